import { Type, type Static } from 'typebox';
import { advanceOnSuccess, type PipelineJob } from './declaration.ts';
import { waitingPolicy } from './waiting-policy.ts';

const config = Type.Object({ advance_on_success: advanceOnSuccess }, { additionalProperties: false });

export type TranscriptImportConfig = Static<typeof config>;

/** Imports the provider's transcript of a recorded conversation; retried as D7a asks. */
export const transcriptImport: PipelineJob<typeof config> = Object.freeze({
  name: 'transcript_import',
  summary: "Imports the meeting provider's transcript, cut to the approved window.",
  jobType: 'transcripts.transcript-import',
  policy: {
    ...waitingPolicy,
    timeoutMs: 1_800_000,
    concurrency: 2,
  },
  startsAgainWithWindow: true,
  waitsForProvider: true,
  config,
  fields: Object.freeze({ advance_on_success: 'read_write' }),
});
