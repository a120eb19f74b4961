/**
 * Programs of the system that some tests need. A full `npm test` installs them early (tools/test/main.ts); a run of single files
 * does so here, hence the long time for a `beforeAll`.
 */
import { chromiumProgram, ffmpegProgram, provideDebianProgram } from '../../tools/servers/debian-program.ts';

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
