/** Loaded with `--import` to shift the wall clock of a process by SHIFT_MS or by `shiftClock`. */
const RealDate = Date;
let shift = Number(process.env.SHIFT_MS ?? 0);

class ShiftedDate extends RealDate {
  constructor(...args) {
    if (args.length === 0) super(RealDate.now() + shift);
    else super(...args);
  }

  static now() {
    return RealDate.now() + shift;
  }
}

globalThis.Date = ShiftedDate;
process.on("message", (message) => {
  if (typeof message?.shiftMs !== "number") return;
  shift = message.shiftMs;
  process.send?.("shifted");
});
