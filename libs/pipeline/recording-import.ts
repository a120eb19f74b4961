import { Type, type Static } from 'typebox';
import { advanceOnSuccess, type PipelineJob } from './declaration.ts';
import { waitingPolicy } from './waiting-policy.ts';

const config = Type.Object(
  {
    trim: Type.Boolean({
      default: true,
      description: 'Cut off what lies before `conversationStartedAt`; the whole recording is kept beside the trimmed one.',
    }),
    thumbnails: Type.Integer({
      default: 3,
      minimum: 0,
      maximum: 5,
      description: 'Pictures taken from the conversation, at 10 %, 30 %, 50 %, 70 % and 90 % of it; 0 = none.',
    }),
    advance_on_success: advanceOnSuccess,
  },
  { additionalProperties: false },
);

export type RecordingImportConfig = Static<typeof config>;

/** Imports the provider's recording; a recording that is late is waited for as a transcript is (D7a). */
export const recordingImport: PipelineJob<typeof config> = Object.freeze({
  name: 'recording_import',
  summary: "Imports the meeting provider's recording, cuts off what lies before the conversation, takes thumbnails.",
  jobType: 'media.recording-import',
  policy: {
    ...waitingPolicy,
    timeoutMs: 6 * 3_600_000,
    concurrency: 1,
  },
  startsAgainWithWindow: true,
  waitsForProvider: true,
  config,
  fields: Object.freeze({ trim: 'read_write', thumbnails: 'read_write', advance_on_success: 'read_write' }),
});
