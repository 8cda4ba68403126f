// SPDX-License-Identifier: BSD-2-Clause
// A self-checking bench of block_decode, in Verilog alone.
//
// One block of BC1 from red to blue, in the mode of four colours: texel n of each row has index n, so that a row is red,
// blue, two thirds of red, one third of it. Channels are UNORM8, thirds rounded to the nearest.
module block_decode_tb;
  import fixfunc_pkg::*;

  localparam int LIMIT = 1000;  // clocks

  logic clk = 0;
  logic rst = 1;
  always #5 clk = ~clk;

  logic i_valid;
  logic i_ready;
  texture_block_t block;
  logic o_valid;
  logic [$bits(texels_16_t)-1:0] o_payload;

  block_decode decoder (
      .clk(clk), .rst(rst),
      .i__valid(i_valid), .i__ready(i_ready), .i__payload(block),
      .o__valid(o_valid), .o__ready(1'b1), .o__payload(o_payload)
  );

  int sent = 0;
  int clocks = 0;

  always_comb begin
    block = 0;
    block.format = BLOCK_FORMAT_BC1;
    block.low = {{4{8'b11_10_01_00}}, 16'h001F, 16'hF800};  // indices row by row, the second colour, the first
    i_valid = !rst && sent == 0;
  end

  always @(posedge clk) begin
    rst <= clocks < 3;
    if (i_valid && i_ready) sent <= sent + 1;
  end

  texels_16_t texels;
  int errors = 0;
  logic [63:0] texel;
  logic [15:0] red;

  always @(posedge clk) begin
    clocks = clocks + 1;
    texels = o_payload;
    if (!rst && o_valid) begin
      if (texels.error || texels.first != 0) errors = errors + 1;
      for (int n = 0; n < 16; n = n + 1) begin
        texel = o_payload[5 + 64 * n +: 64];  // behind error and first; alpha, blue, green, red
        case (n % 4)
          0: red = 255;
          1: red = 0;
          2: red = 170;
          default: red = 85;
        endcase
        if (texel !== {16'd255, 16'd255 - red, 16'd0, red}) errors = errors + 1;
      end
      if (errors != 0) $fatal(1, "FAILED: %0d errors", errors);
      $display("PASSED: 16 texels");
      $finish;
    end
    if (clocks == LIMIT) $fatal(1, "FAILED: no texels after %0d clocks", clocks);
  end
endmodule
