/** `media.tools.describe`: the programs that imports of recordings need. */
import { type Ffmpeg, ffmpegMissingMessage } from '#libs/ffmpeg';
import type { Handler } from '#libs/nats';
import type { recordingRpcs } from './contract.ts';

export function createDescribeTools(ffmpeg: Ffmpeg): Handler<typeof recordingRpcs.describeTools> {
  return async () => {
    const version = await ffmpeg.version();
    return { ffmpeg: version ?? null, hint: version === undefined ? ffmpegMissingMessage : null };
  };
}
