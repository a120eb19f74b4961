import { Type, type Static } from 'typebox';
import { advanceOnSuccess, type PipelineJob } from './declaration.ts';
import { waitingPolicy } from './waiting-policy.ts';

const config = Type.Object(
  {
    language: Type.String({
      default: '',
      maxLength: 40,
      description: 'Language to write in, e.g. `English`; empty: that of the conversation.',
    }),
    guidance: Type.String({ default: '', maxLength: 2_000, description: 'What else the model is asked to mind, e.g. for whom it writes.' }),
    advance_on_success: advanceOnSuccess,
  },
  { additionalProperties: false },
);

export type PublishingSummaryConfig = Static<typeof config>;

/** Attempts in which the model gives no usable answer; what is late or away uses none up. */
const maxUselessAnswers = 12;

/** Writes title, summary and description from the transcript; a transcript that is late is waited for. */
export const publishingSummary: PipelineJob<typeof config> = Object.freeze({
  name: 'publishing_summary',
  summary: 'Writes title, summary and description of the conversation from its transcript; what a person has written stays.',
  jobType: 'agents.publishing-summary',
  policy: {
    ...waitingPolicy,
    maxAttempts: maxUselessAnswers,
    timeoutMs: 3_600_000,
    concurrency: 1,
  },
  startsAgainWithWindow: true,
  config,
  fields: Object.freeze({ language: 'read_write', guidance: 'read_write', advance_on_success: 'read_write' }),
});
