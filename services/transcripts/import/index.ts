/** What an import and a transcription of audio have in common. */
export { InstallRefused, installTranscript } from './install.ts';
export { type Finished, record } from './record.ts';
export { judgeWindow } from './rules.ts';
export { readSource } from './source.ts';
