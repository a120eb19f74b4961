/**
 * Job `agents.publishing-summary` (rules/steps#pipeline-jobs; D18a): title, summary and description from the transcript, in envelopes that tell
 * their origin. Long transcripts are read in parts. What the same transcript gave before is not asked again, and what a person has written
 * is never touched. No message of an error, log line, payload or result holds what was said.
 */
import { createHash } from 'node:crypto';
import { AppError, unavailable } from '#libs/errors';
import { isJsonObject, type JsonObject } from '#libs/json';
import { PermanentJobError, RetryLater } from '#libs/jobs';
import type { Bus } from '#libs/nats';
import { ModelFailure, type PromptMessage } from '#libs/openai';
import { publishingSummary as declaration, type PublishingSummaryConfig } from '#libs/pipeline';
import { pipelineWorker, readProvenance, wrapValue, type PipelineRun, type PipelineWorker } from '#libs/pipeline-worker';
import { type Clock, formatInstant } from '#libs/time';
import { conversations } from '#services/conversations';
import { transcripts } from '#services/transcripts';
import { UnusableReply } from '../json-reply.ts';
import type { MeasuredModel } from '../language-model/index.ts';
import { estimateTokens } from '../tokens.ts';
import { groupByTokens, splitByTokens } from './rules/parts.ts';
import {
  buildRetryPrompt,
  buildNotesPrompt,
  buildTextsPrompt,
  promptVersion,
  publishedFields,
  type PublishingTexts,
  parseNotes,
  parseTexts,
} from './rules/prompts.ts';

export interface PublishingSummaryDependencies {
  readonly bus: Bus;
  readonly clock: Clock;
  /** Undefined while no language model is configured: summaries wait. */
  readonly model: MeasuredModel | undefined;
  /** Name of the model, for the provenance. */
  readonly modelName: string;
  /** Estimated tokens of what the model reads at once. */
  readonly promptTokens: number;
}

type Step = PipelineRun<PublishingSummaryConfig>;

const notConfiguredDelayMs = 900_000;
/** The instructions, and the reply that did not fit, take some of the budget. */
const reservedTokens = 1_500;
const minPartTokens = 250;
/** A week of speech is a tenth of it. */
const maxTranscriptBytes = 32 * 1_048_576;
/** Attempts at one reply; each says what was wrong with the one before. */
const maxReplies = 3;
const transcriptHeading = '\n## Transcript\n';

export function createPublishingSummary(deps: PublishingSummaryDependencies): PipelineWorker {
  return pipelineWorker(declaration, async (step) => {
    try {
      await summarize(deps, step);
    } catch (error) {
      throw toJobError(error, step);
    }
  });
}

/** Useless answers of the model use attempts up; a transcript that is late and whatever is away are waited for. */
function toJobError(error: unknown, { run }: Step): unknown {
  if (error instanceof AppError && error.retryable) return new RetryLater(error.message, { cause: error });
  if (error instanceof UnusableReply) return new PermanentJobError(`the reply of the model does not fit: ${error.message}`);
  if (!(error instanceof ModelFailure)) return error;
  if (error.kind === 'cancelled') return run.signal.reason;
  const message = `the model gave no usable answer: ${error.kind}${error.status === undefined ? '' : ` ${error.status}`}`;
  const isAway = error.kind === 'timeout' || error.kind === 'connection' || error.kind === 'status';
  if (!isAway) return new AppError({ code: 'unavailable', message }, { cause: error });
  return new RetryLater(message, error.retryAfter === undefined ? {} : { delayMs: error.retryAfter * 1_000 });
}

async function summarize(deps: PublishingSummaryDependencies, step: Step): Promise<void> {
  const { run, conversationId, config } = step;
  run.progress(0, 'reading the transcript');
  const fields = await readFields(deps.bus, step);
  if (fields === undefined) {
    return step.finish(() => Promise.resolve({ result: { status: 'conversation_gone' }, note: null, succeeded: false }));
  }
  const transcript = await readTranscript(deps.bus, step);
  if (transcript === '') throw unavailable('the conversation has no transcript yet');
  const origin = { prompt_version: versionOf(config), source_digest: digestOf(transcript) };
  const wanted = publishedFields.filter((name) => isWritable(fields[name], origin));
  if (wanted.length === 0) {
    const note = `${declaration.name} finished: nothing to write, the fields are of this transcript or a person's own`;
    return step.finish(() => Promise.resolve({ result: { status: 'unchanged' }, note, succeeded: true }));
  }
  const { texts, parts } = await writeTexts(deps, step, transcript);
  run.progress(95, 'publishing');
  const provenance = { source: declaration.name, model: deps.modelName, ...origin, at: formatInstant(deps.clock.now()) };
  const envelopes = Object.fromEntries(wanted.map((name) => [name, wrapValue(texts[name], provenance)]));
  await step.finish(async () => {
    // Words may have been erased while the model wrote: nothing is made of those.
    if (digestOf(await readTranscript(deps.bus, step)) !== origin.source_digest) throw transcriptChanged();
    return {
      result: { status: 'written', fields: wanted, parts, ...origin },
      note: `${declaration.name} finished: ${wanted.join(', ')} written from ${parts} ${parts === 1 ? 'part' : 'parts'}`,
      succeeded: true,
      publishing: { fields: envelopes, records: { [declaration.name]: wrapValue({ fields: wanted, parts }, provenance) } },
    };
  });
  run.logger.info({ conversationId, fields: wanted, parts }, 'publishing summary finished');
}

const transcriptChanged = (): RetryLater => new RetryLater('the transcript has changed while the summary was written', { delayMs: 0 });

const digestOf = (transcript: string): string => createHash('sha256').update(transcript).digest('hex');

/** Language and guidance are part of what the model is asked. */
function versionOf({ language, guidance }: PublishingSummaryConfig): string {
  if (language === '' && guidance === '') return promptVersion;
  const wishes = createHash('sha256')
    .update(JSON.stringify([language, guidance]))
    .digest('hex');
  return `${promptVersion}+${wishes.slice(0, 12)}`;
}

/** Empty fields, and those that this job wrote from something else. Decided again where they are written, under the row's lock. */
function isWritable(stored: unknown, origin: { prompt_version: string; source_digest: string }): boolean {
  if (stored === undefined || stored === null || (typeof stored === 'string' && stored.trim() === '')) return true;
  const provenance = readProvenance(stored, declaration.name);
  if (provenance === undefined) return false;
  return provenance['prompt_version'] !== origin.prompt_version || provenance['source_digest'] !== origin.source_digest;
}

/** `infos.publishing.fields`; undefined when the conversation is gone. */
async function readFields(bus: Bus, { run, conversationId }: Step): Promise<JsonObject | undefined> {
  try {
    const { infos } = await bus.call(conversations.rpcs.get, { conversation_id: conversationId }, run.context);
    const publishing: unknown = isJsonObject(infos) ? infos['publishing'] : undefined;
    const fields = isJsonObject(publishing) ? publishing['fields'] : undefined;
    return isJsonObject(fields) ? fields : {};
  } catch (error) {
    if (error instanceof AppError && error.code === 'not_found') return undefined;
    throw error;
  }
}

/** The speech without the head of the file, which has the title that is written here. */
async function readTranscript(bus: Bus, { run, conversationId }: Step): Promise<string> {
  const requestReply = await bus.callRaw(transcripts.rpcs.render, { conversation_id: conversationId }, run.context);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of requestReply.kind === 'bytes' ? [requestReply.bytes] : requestReply.chunks) {
    size += chunk.byteLength;
    if (size > maxTranscriptBytes) throw new PermanentJobError('the transcript is too large to be summarised');
    chunks.push(Buffer.from(chunk));
  }
  const text = Buffer.concat(chunks).toString('utf8');
  const start = text.indexOf(transcriptHeading);
  return start === -1 ? '' : text.slice(start + transcriptHeading.length).trim();
}

/** The texts at once when the transcript fits, else from notes on its parts, which are condensed until they fit. */
async function writeTexts(
  deps: PublishingSummaryDependencies,
  step: Step,
  transcript: string,
): Promise<{ texts: PublishingTexts; parts: number }> {
  const { config, run } = step;
  const budget = Math.max(minPartTokens, deps.promptTokens - reservedTokens);
  if (estimateTokens(transcript) <= budget) {
    run.progress(10, 'summarising');
    return { texts: await reply(deps, step, buildTextsPrompt({ transcript }, config), parseTexts), parts: 1 };
  }
  const parts = splitByTokens(transcript, budget);
  let notes = await summarizeParts(deps, step, parts, { from: 5, to: 70 });
  while (notes.length > 1 && estimateTokens(JSON.stringify(notes)) > budget) {
    const groups = groupByTokens(notes, budget).map((group) => group.join('\n\n'));
    notes = await summarizeParts(deps, step, groups, { from: 70, to: 85 });
  }
  run.progress(85, 'summarising');
  return { texts: await reply(deps, step, buildTextsPrompt({ notes }, config), parseTexts), parts: parts.length };
}

async function summarizeParts(
  deps: PublishingSummaryDependencies,
  step: Step,
  parts: readonly string[],
  percent: { from: number; to: number },
): Promise<string[]> {
  const notes: string[] = [];
  for (const [index, part] of parts.entries()) {
    step.run.progress(percent.from + (index / parts.length) * (percent.to - percent.from), `reading part ${index + 1} of ${parts.length}`);
    notes.push(await reply(deps, step, buildNotesPrompt(part, index + 1, parts.length, step.config), parseNotes));
  }
  return notes;
}

/** Asks until the reply fits. @throws UnusableReply, ModelFailure */
async function reply<T>(
  deps: PublishingSummaryDependencies,
  { run }: Step,
  messages: readonly PromptMessage[],
  read: (text: string) => T,
): Promise<T> {
  if (deps.model === undefined) throw new RetryLater('No language model is configured', { delayMs: notConfiguredDelayMs });
  let asked = messages;
  for (let count = 1; ; count += 1) {
    const { text } = await deps.model.ask({ agentId: null, purpose: 'publishing', messages: asked, signal: run.signal });
    try {
      return read(text);
    } catch (error) {
      if (!(error instanceof UnusableReply) || count === maxReplies) throw error;
      asked = buildRetryPrompt(messages, text, error.message);
    }
  }
}
