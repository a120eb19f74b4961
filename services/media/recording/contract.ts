/** What imports of recordings stand on; the job itself is declared in `libs/pipeline`. */
import { byOperators, rpc, Type } from '#libs/contract';

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
