// SPDX-License-Identifier: BSD-2-Clause
// A self-checking bench of texture_unit, in Verilog alone.
//
// A texture of 8x8 texels in BC7 lies in memory as four blocks of 16 bytes, in Morton order: one line of 64 bytes, read
// by AXI4 a burst at a time. Each block is of mode 6, which has two colours of RGBA and an index of four bits a texel.
// Quads of 2x2 pixels read every texel, then every corner between four of them, whose filtered texel is their mean.
// Both are decoded here anew.
module texture_tb;
  import fixfunc_pkg::*;

  localparam int LIMIT = 10_000;  // clocks
  localparam int EDGE = 8;
  localparam int POINT = EDGE * EDGE / 4;  // quads that read a texel a pixel
  localparam int QUADS = POINT + (EDGE / 2 - 1) * (EDGE / 2 - 1);
  localparam int BC7_UNORM = 25;  // StoredFormat
  localparam int CLAMP = 2;  // Address
  localparam int LINE = 3;  // of the texture in memory

  logic clk = 0;
  logic rst = 1;
  always #5 clk = ~clk;

  typedef int colour_t[4];

  // Weight of the second colour, of 64, by index.
  function automatic int weight(input int index);
    case (index)
      0: return 0;
      5: return 21;
      10: return 43;
      default: return 64;
    endcase
  endfunction

  // A colour of a block. The lowest bit is one that all of its channels share: 0 of the first, 1 of the second.
  function automatic int end_point(input int number, input int second, input int channel);
    logic falls;
    falls = channel == 0 ? number[0] : channel == 1 ? number[1] : 1'b0;  // red from left to right, green by halves
    return second != 0 ? (falls ? 1 : 255) : (falls ? 254 : 0);
  endfunction

  // A channel of a texel: columns of a block have the indices 0, 5, 10, 15.
  function automatic int texel(input int x, input int y, input int channel);
    int number;
    int of_second;
    number = x / 4 + 2 * (y / 4);
    of_second = weight(5 * (x % 4));
    return ((64 - of_second) * end_point(number, 0, channel) + of_second * end_point(number, 1, channel) + 32) / 64;
  endfunction

  // The block: mode, the colours' upper seven bits by channel, their lowest bits, indices; of the first three bits.
  function automatic logic [127:0] block(input int number);
    logic [127:0] bits;
    bits = 0;
    bits[6:0] = 7'b1000000;
    for (int channel = 0; channel < 4; channel = channel + 1)
      for (int second = 0; second < 2; second = second + 1)
        bits[7 + 14 * channel + 7 * second +: 7] = 7'(end_point(number, second, channel) / 2);
    bits[64:63] = 2'b10;
    for (int n = 1; n < 16; n = n + 1) bits[64 + 4 * n +: 4] = 4'(5 * (n % 4));
    return bits;
  endfunction

  // The nearest float32 of a number from 0 to 2.
  function automatic logic [31:0] float32(input real value);
    logic [63:0] bits;
    logic [31:0] cut;
    if (value == 0.0) return 0;
    bits = $realtobits(value);
    cut = {1'b0, 8'(bits[62:52] - 11'd896), bits[51:29]};
    return bits[28:0] > 29'h10000000 || (bits[28:0] == 29'h10000000 && bits[29]) ? cut + 1 : cut;
  endfunction

  // Coordinates of a pixel, in halves of a texel: its centre, or the corner behind it.
  function automatic int half(input int quad, input int pixel, input int vertical);
    int place;
    int across;
    place = quad < POINT ? quad : quad - POINT;
    across = quad < POINT ? EDGE / 2 : EDGE / 2 - 1;
    place = 2 * (vertical != 0 ? place / across : place % across) + (vertical != 0 ? pixel / 2 : pixel % 2);
    return quad < POINT ? 2 * place + 1 : 2 * place + 2;
  endfunction

  // What a pixel's channel is to become: a texel, or the mean of four.
  function automatic logic [31:0] expected(input int quad, input int pixel, input int channel);
    int x;
    int y;
    x = half(quad, pixel, 0) / 2;
    y = half(quad, pixel, 1) / 2;
    if (quad < POINT) return float32(texel(x, y, channel) / 255.0);
    return float32((texel(x, y, channel) + texel(x - 1, y, channel)
                  + texel(x, y - 1, channel) + texel(x - 1, y - 1, channel)) / 1020.0);
  endfunction

  // States and quads: one of points and its quads, then one of four texels and its own.
  localparam int BEATS = QUADS + 2;
  sample_state_t state;
  texture_quad_t quad;
  logic [$bits(texture_quad_t)-1:0] beat;
  logic i_valid;
  logic i_ready;
  int sent = 0;

  always_comb begin
    int number;
    logic is_state;
    logic is_smooth;
    is_smooth = sent > POINT;
    is_state = sent == 0 || sent == POINT + 1;
    number = is_smooth ? sent - 2 : sent - 1;
    state = 0;
    state.width = 15'(EDGE);
    state.height = 15'(EDGE);
    state.format = 5'(BC7_UNORM);
    state.base0 = 26'(LINE);
    state.mode_u = 3'(CLAMP);
    state.mode_v = 3'(CLAMP);
    state.magnify = is_smooth;
    quad = 0;
    quad.kind = 1;
    quad.live = 4'hF;
    quad.u0 = float32(half(number, 0, 0) / (2.0 * EDGE));
    quad.v0 = float32(half(number, 0, 1) / (2.0 * EDGE));
    quad.u1 = float32(half(number, 1, 0) / (2.0 * EDGE));
    quad.v1 = float32(half(number, 1, 1) / (2.0 * EDGE));
    quad.u2 = float32(half(number, 2, 0) / (2.0 * EDGE));
    quad.v2 = float32(half(number, 2, 1) / (2.0 * EDGE));
    quad.u3 = float32(half(number, 3, 0) / (2.0 * EDGE));
    quad.v3 = float32(half(number, 3, 1) / (2.0 * EDGE));
    beat = is_state ? $bits(texture_quad_t)'(state) : quad;
    i_valid = !rst && sent < BEATS;
  end

  // The memory: a burst at a time, two transfers of 32 bytes a line.
  logic arvalid;
  logic arready;
  logic [31:0] araddr;
  logic [7:0] arlen;
  logic [5:0] arid;
  logic rready;
  logic rvalid;
  logic [5:0] rid = 0;
  int left = 0;
  logic [31:0] address = 0;
  logic [255:0] rdata;
  int reads = 0;

  assign arready = left == 0;
  assign rvalid = left != 0;
  assign rdata = address[31:6] != 26'(LINE) ? 256'd0 : address[5] ? {block(3), block(2)} : {block(1), block(0)};

  always @(posedge clk) begin
    rst <= clocks < 3;
    if (i_valid && i_ready) sent <= sent + 1;
    if (arvalid && arready) begin
      left <= int'(arlen) + 1;
      address <= araddr;
      rid <= arid;
      reads <= reads + 1;
    end
    if (rvalid && rready) begin
      left <= left - 1;
      address <= address + 32;
    end
  end

  logic o_valid;
  textured_quad_t result;

  texture_unit dut (
      .clk(clk), .rst(rst), .forget(1'b0),
      .i__valid(i_valid), .i__ready(i_ready), .i__payload(beat),
      .o__valid(o_valid), .o__ready(1'b1), .o__payload(result),
      .memory__arvalid(arvalid), .memory__arready(arready), .memory__araddr(araddr), .memory__arlen(arlen),
      .memory__arid(arid), .memory__arsize(), .memory__arburst(),
      .memory__rvalid(rvalid), .memory__rready(rready), .memory__rid(rid), .memory__rdata(rdata),
      .memory__rresp(2'b00), .memory__rlast(left == 1),
      .memory__awvalid(), .memory__awready(1'b1), .memory__awaddr(), .memory__awlen(), .memory__awid(),
      .memory__awsize(), .memory__awburst(),
      .memory__wvalid(), .memory__wready(1'b1), .memory__wdata(), .memory__wstrb(), .memory__wlast(),
      .memory__bvalid(1'b0), .memory__bready(), .memory__bid(6'd0), .memory__bresp(2'b00)
  );

  int clocks = 0;
  int got = 0;
  int errors = 0;
  localparam int COUNTS = $bits(textured_quad_t) - 16 * 32;  // bits before the channels
  logic [$bits(textured_quad_t)-1:0] bits;

  always @(posedge clk) begin
    clocks = clocks + 1;
    bits = result;
    if (!rst && o_valid) begin
      if (result.status != 0) errors = errors + 1;
      for (int pixel = 0; pixel < 4; pixel = pixel + 1)
        for (int channel = 0; channel < 4; channel = channel + 1)
          if (bits[COUNTS + 32 * (4 * pixel + channel) +: 32] !== expected(got, pixel, channel)) errors = errors + 1;
      got = got + 1;
      if (errors != 0) $fatal(1, "FAILED: %0d errors until quad %0d", errors, got - 1);
      if (got == QUADS) begin
        if (reads != 1) $fatal(1, "FAILED: %0d reads of one line", reads);
        $display("PASSED: %0d quads, %0d clocks", QUADS, clocks);
        $finish;
      end
    end
    if (clocks == LIMIT) $fatal(1, "FAILED: %0d quads after %0d clocks", got, clocks);
  end
endmodule
