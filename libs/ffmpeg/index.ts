/** ffmpeg as the services use it: the program within limits, and disk for what it writes. */
export { audioInput, createFfmpeg, FfmpegFailed, missingFfmpeg, recordingInput } from './program.ts';
export type { Ffmpeg, InputLimits, RunOptions } from './program.ts';
export { createScratch, type Scratch } from './scratch.ts';
