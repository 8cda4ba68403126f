// SPDX-License-Identifier: BSD-2-Clause
// A self-checking bench of triangle_setup and tile_rasterizer, in Verilog alone.
//
// One right triangle with corners (0, 0), (16, 0), (0, 16) pixels, on a target of 16 by 16, one sample a pixel. The centre
// of pixel (x, y) lies inside where x + y + 1 < 16; on the long edge, which is neither a top nor a left one, it lies outside.
// STATE and FENCE come out with the tiles, in order.
module raster_tb;
  import fixfunc_pkg::*;

  localparam int SIZE = 16;  // pixels
  localparam int LIMIT = 2000;  // clocks

  logic clk = 0;
  logic rst = 1;
  always #5 clk = ~clk;

  // Streams that several tables share are as wide as the widest of them: draw_state_t in and out, setup_t between.
  logic i_valid;
  logic i_ready;
  logic [$bits(draw_state_t)-1:0] i_payload;
  logic setup_valid;
  logic setup_ready;
  logic [$bits(setup_t)-1:0] setup_payload;
  logic o_valid;
  logic [$bits(draw_state_t)-1:0] o_payload;

  triangle_setup setup (
      .clk(clk), .rst(rst),
      .i__valid(i_valid), .i__ready(i_ready), .i__payload(i_payload),
      .o__valid(setup_valid), .o__ready(setup_ready), .o__payload(setup_payload)
  );

  tile_rasterizer raster (
      .clk(clk), .rst(rst),
      .i__valid(setup_valid), .i__ready(setup_ready), .i__payload(setup_payload),
      .o__valid(o_valid), .o__ready(1'b1), .o__payload(o_payload)
  );

  // Stimuli: the next beat is offered until it moves, which is in a clock in which valid and ready are high.
  draw_state_t state;
  triangle_t triangle;
  fence_t fence;
  int sent = 0;
  int clocks = 0;

  always_comb begin
    state = 0;
    state.kind = KIND_STATE;
    state.viewport_x1 = 17'(SIZE);
    state.viewport_y1 = 17'(SIZE);
    state.scissor_x1 = 15'(SIZE);
    state.scissor_y1 = 15'(SIZE);
    state.target_width = 15'(SIZE);
    state.target_height = 15'(SIZE);
    triangle = 0;
    triangle.kind = KIND_WORK;
    triangle.x1 = 24'(SIZE << 8);  // s15.8
    triangle.y2 = 24'(SIZE << 8);  // s15.8
    fence = 0;
    fence.kind = KIND_FENCE;
    fence.sequence_ = 7;
    case (sent)
      0: i_payload = state;
      1: i_payload = {{($bits(draw_state_t) - $bits(triangle_t)) {1'b0}}, triangle};
      default: i_payload = {{($bits(draw_state_t) - $bits(fence_t)) {1'b0}}, fence};
    endcase
    i_valid = !rst && sent < 3;
  end

  always @(posedge clk) begin
    rst <= clocks < 3;
    if (i_valid && i_ready) sent <= sent + 1;
  end

  // Checks: every pixel of every tile, and how many there are in all.
  tile_8_t tile;
  fence_t last;
  logic [63:0] mask;
  int covered = 0;
  int errors = 0;
  int x;
  int y;
  logic wanted;

  always @(posedge clk) begin
    clocks = clocks + 1;
    tile = o_payload[$bits(tile_8_t)-1:0];
    last = o_payload[$bits(fence_t)-1:0];
    if (!rst && o_valid && tile.kind == KIND_WORK) begin
      mask = tile.mask;
      for (int n = 0; n < 64; n = n + 1) begin
        x = 8 * int'(tile.x) + n % 8;
        y = 8 * int'(tile.y) + n / 8;
        wanted = x + y + 1 < SIZE;
        if (mask[n] !== wanted) errors = errors + 1;
        if (mask[n]) covered = covered + 1;
      end
    end
    if (!rst && o_valid && tile.kind == KIND_FENCE) begin
      if (last.sequence_ !== 7) errors = errors + 1;
      if (covered != SIZE * (SIZE - 1) / 2) errors = errors + 1;
      if (errors != 0) $fatal(1, "FAILED: %0d errors, %0d pixels covered", errors, covered);
      $display("PASSED: %0d pixels covered", covered);
      $finish;
    end
    if (clocks == LIMIT) $fatal(1, "FAILED: no fence after %0d clocks", clocks);
  end
endmodule
