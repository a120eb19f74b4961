/** ffmpeg as the services use it: the program within limits, and disk for what it writes. */
export { audioInput, createFfmpeg, FfmpegError, ffmpegMissingMessage } from './program.ts';
export type { Ffmpeg } from './program.ts';
export { createScratchDirectory, type ScratchDirectory } from './scratch.ts';
