/**
 * Preloaded into a service (`--import`) to let its clock jump. On SIGUSR2 the process reads its clock offset in
 * milliseconds from the file `clock-<pid>`, in the folder that the query of this module's URL contains. Monotonic time
 * (`performance.now`, timers) is unaffected, as with a real clock change.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const dir = new URL(import.meta.url).searchParams.get('dir') ?? '';
const now = Date.now;
let shiftMs = 0;

Date.now = () => now() + shiftMs;
const ShiftedDate: DateConstructor = new Proxy(Date, {
  construct: (target, args, made) =>
    Reflect.construct(target, args.length === 0 ? [Date.now()] : args, made === ShiftedDate ? target : made) as Date,
  apply: () => new ShiftedDate().toString(),
});
globalThis.Date = ShiftedDate;
process.on('SIGUSR2', () => {
  shiftMs = Number(readFileSync(join(dir, `clock-${process.pid}`), 'utf8'));
});
