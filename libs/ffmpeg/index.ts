/** ffmpeg as the services use it: the program within limits, and disk for what it writes. */
export { audioInput, createFfmpeg, FfmpegFailed, missingFfmpeg } from './program.ts';
export type { Ffmpeg } from './program.ts';
export { createScratch, type Scratch } from './scratch.ts';
