/** What imports of recordings stand on; the job itself is declared in `libs/pipeline`. */
import { byOperators, feedEvent, noData, rpc, Type } from '#libs/contract';

/** What the feed is told of recordings (rules/events#types; V1). */
export const recordingFeed = {
  available: feedEvent({
    type: 'video.available',
    subject: 'conversation',
    summary: 'A conversation has a recording, or another one.',
    data: noData,
    example: {},
  }),
} as const;

export const recordingRpcs = {
  describeTools: rpc({
    subject: 'admin.media.tools.describe',
    callers: byOperators,
    summary: 'The programs that the jobs of this service need, for `doctor`.',
    request: Type.Object({}),
    reply: Type.Object({
      ffmpeg: Type.Union([Type.String(), Type.Null()], { description: 'Its version; null when it cannot be run.' }),
      hint: Type.Union([Type.String(), Type.Null()], { description: 'What to do when it is missing.' }),
    }),
    timeoutMs: 30_000,
  }),
};
