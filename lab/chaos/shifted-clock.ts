/**
 * Loaded into a service before its program (`--import`): a clock that can jump. On SIGUSR2 the process reads from a file of its own, in the folder that the query
 * of this module's address names, by how many milliseconds its clock is wrong from now on. Time that only goes forward (`performance.now`, timers) is right, as
 * with a real clock that is set.
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
