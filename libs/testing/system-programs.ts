/**
 * Programs of the system that some tests need. A full `npm test` installs them early (tools/test/main.ts); a run of single files
 * does so here, hence the long time for a `beforeAll`.
 */
import { chromiumProgram, ffmpegProgram, pgBouncerProgram, provideDebianProgram, pythonProgram, type Go, provideGo } from '#libs/servers';

/** For `beforeAll(..., provideTimeoutMs)`: the first run on a machine fetches the packages. */
export const provideTimeoutMs = 600_000;

const progress = (line: string): void => void process.stderr.write(`${line}\n`);

/** Paths of ffmpeg and ffprobe. @throws Error that names the ways out. */
export async function provideFfmpeg(): Promise<{ ffmpeg: string; ffprobe: string }> {
  const [ffmpeg = '', ffprobe = ''] = await provideDebianProgram(ffmpegProgram, progress);
  return { ffmpeg, ffprobe };
}

/** Path of a Chromium for headless use. @throws Error that names the ways out. */
export async function provideChromium(): Promise<string> {
  const [chromium = ''] = await provideDebianProgram(chromiumProgram, progress);
  return chromium;
}

/** Path of a Python 3. @throws Error that names the ways out. */
export async function providePython(): Promise<string> {
  const [python = ''] = await provideDebianProgram(pythonProgram, progress);
  return python;
}

/** The Go of this machine, or the pinned one. @throws Error that says why there is none. */
export async function provideGoProgram(): Promise<Go> {
  return provideGo(progress);
}

/** Path of PgBouncer. @throws Error that names the ways out. */
export async function providePgBouncer(): Promise<string> {
  const [pgBouncer = ''] = await provideDebianProgram(pgBouncerProgram, progress);
  return pgBouncer;
}
