/**
 * Job `agents.publishing-summary` (rules/steps#pipeline-jobs; D18a): writes title, summary and description from the
 * transcript, in provenance envelopes. Long transcripts are read in parts. Fields that were written from the same
 * transcript or edited by a person remain unchanged. Errors, logs, payloads and results contain no speech.
 */
import { createHash } from 'node:crypto';
import { AppError, unavailable } from '#libs/infrastructure/errors';
import { isJsonObject, type JsonObject } from '#libs/infrastructure/json';
import { PermanentJobError, RetryLater } from '#libs/infrastructure/jobs';
import type { Bus } from '#libs/infrastructure/nats';
import { ModelFailure, type PromptMessage } from '#libs/infrastructure/openai';
import { publishingSummary as declaration, type PublishingSummaryConfig } from '#libs/product/pipeline';
import {
  pipelineWorker,
  readProvenance,
  wrapValue,
  type PipelineRun,
  type PipelineWorker,
} from '#libs/product/pipeline-worker';
import { formatInstant } from '#libs/infrastructure/time';
import { conversations } from '#services/conversations';
import { transcripts } from '#services/transcripts';
import type { Dependencies } from '../dependencies.ts';
import { UnusableReply, estimateTokens } from '../model-text.ts';
import {
  groupByTokens,
  splitByTokens,
  buildRetryPrompt,
  buildNotesPrompt,
  buildTextsPrompt,
  promptVersion,
  publishedFields,
  type PublishingTexts,
  parseNotes,
  parseTexts,
} from './rules.ts';

type SummaryDependencies = Pick<Dependencies, 'bus' | 'clock' | 'config' | 'model'>;

type Step = PipelineRun<PublishingSummaryConfig>;

const notConfiguredDelayMs = 900_000;
/** Tokens reserved for instructions and for an unusable reply in a retry. */
const reservedTokens = 1_500;
const minPartTokens = 250;
/** Maximum size of a transcript: ten times a week of speech. */
const maxTranscriptBytes = 32 * 1_048_576;
/** Maximum attempts per reply. Each retry describes the problem to the model. */
const maxReplies = 3;
const transcriptHeading = '\n## Transcript\n';

export function createPublishingSummary(deps: SummaryDependencies): PipelineWorker {
  return pipelineWorker(declaration, async (step) => {
    try {
      await summarize(deps, step);
    } catch (error) {
      throw toJobError(error, step);
    }
  });
}

/**
 * Converts an error for the job runner. Unusable replies use up attempts; the job waits for unavailable services and
 * missing transcripts.
 */
function toJobError(error: unknown, { run }: Step): unknown {
  if (error instanceof AppError && error.retryable) return new RetryLater(error.message, { cause: error });
  if (error instanceof UnusableReply)
    return new PermanentJobError(`unusable reply of the language model: ${error.message}`);
  if (!(error instanceof ModelFailure)) return error;
  if (error.kind === 'cancelled') return run.signal.reason;
  const message = `No usable reply of the language model: ${error.kind}${error.status === undefined ? '' : ` ${error.status}`}`;
  const isAway = error.kind === 'timeout' || error.kind === 'connection' || error.kind === 'status';
  if (!isAway) return new AppError({ code: 'unavailable', message }, { cause: error });
  return new RetryLater(message, error.retryAfter === undefined ? {} : { delayMs: error.retryAfter * 1_000 });
}

async function summarize(deps: SummaryDependencies, step: Step): Promise<void> {
  const { run, conversationId, config } = step;
  run.progress(0, 'reading the transcript');
  const fields = await readFields(deps.bus, step);
  if (fields === undefined) {
    return step.finish(() =>
      Promise.resolve({ result: { status: 'conversation_gone' }, note: null, succeeded: false }),
    );
  }
  const transcript = await readTranscript(deps.bus, step);
  if (transcript === '') throw unavailable('The conversation has no transcript yet.');
  const origin = { prompt_version: versionOf(config), source_digest: digestOf(transcript) };
  const writable = publishedFields.filter((name) => isWritable(fields[name], origin));
  if (writable.length === 0) {
    const note = `${declaration.name} finished: nothing to write, all fields are up to date or edited by a person`;
    return step.finish(() => Promise.resolve({ result: { status: 'unchanged' }, note, succeeded: true }));
  }
  const { texts, parts } = await writeTexts(deps, step, transcript);
  run.progress(95, 'publishing');
  const provenance = {
    source: declaration.name,
    model: deps.config.LLM_SUMMARY_MODEL || deps.config.LLM_MODEL,
    ...origin,
    at: formatInstant(deps.clock.now()),
  };
  const envelopes = Object.fromEntries(writable.map((name) => [name, wrapValue(texts[name], provenance)]));
  await step.finish(async () => {
    // Speech may have been erased while the model was writing.
    if (digestOf(await readTranscript(deps.bus, step)) !== origin.source_digest) throw transcriptChanged();
    return {
      result: { status: 'written', fields: writable, parts, ...origin },
      note: `${declaration.name} finished: ${writable.join(', ')} written from ${parts} ${parts === 1 ? 'part' : 'parts'}`,
      succeeded: true,
      publishing: {
        fields: envelopes,
        records: { [declaration.name]: wrapValue({ fields: writable, parts }, provenance) },
      },
    };
  });
  run.logger.info({ conversationId, fields: writable, parts }, 'publishing summary: finished');
}

const transcriptChanged = (): RetryLater =>
  new RetryLater('The transcript changed while the summary was written.', { delayMs: 0 });

const digestOf = (transcript: string): string => createHash('sha256').update(transcript).digest('hex');

/** Returns the version of the prompt, which includes language and guidance. */
function versionOf({ language, guidance }: PublishingSummaryConfig): string {
  if (language === '' && guidance === '') return promptVersion;
  const wishes = createHash('sha256')
    .update(JSON.stringify([language, guidance]))
    .digest('hex');
  return `${promptVersion}+${wishes.slice(0, 12)}`;
}

/**
 * Whether the job may write a field: it is empty, or this job wrote it from another transcript or prompt version. The
 * check is repeated under the row's lock before writing.
 */
function isWritable(stored: unknown, origin: { prompt_version: string; source_digest: string }): boolean {
  if (stored === undefined || stored === null || (typeof stored === 'string' && stored.trim() === '')) return true;
  const provenance = readProvenance(stored, declaration.name);
  if (provenance === undefined) return false;
  return provenance['prompt_version'] !== origin.prompt_version || provenance['source_digest'] !== origin.source_digest;
}

/** Returns `infos.publishing.fields`, or undefined when the conversation does not exist. */
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

/** Returns the speech of the transcript, without the header, which contains the title. */
async function readTranscript(bus: Bus, { run, conversationId }: Step): Promise<string> {
  const requestReply = await bus.callRaw(transcripts.rpcs.render, { conversation_id: conversationId }, run.context);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of requestReply.kind === 'bytes' ? [requestReply.bytes] : requestReply.chunks) {
    size += chunk.byteLength;
    if (size > maxTranscriptBytes) throw new PermanentJobError('The transcript is too large.');
    chunks.push(Buffer.from(chunk));
  }
  const text = Buffer.concat(chunks).toString('utf8');
  const start = text.indexOf(transcriptHeading);
  return start === -1 ? '' : text.slice(start + transcriptHeading.length).trim();
}

/**
 * Writes the texts with one prompt if the transcript fits. Otherwise writes them from notes on its parts, which are
 * condensed until they fit.
 */
async function writeTexts(
  deps: SummaryDependencies,
  step: Step,
  transcript: string,
): Promise<{ texts: PublishingTexts; parts: number }> {
  const { config, run } = step;
  const budget = Math.max(minPartTokens, deps.config.LLM_PROMPT_TOKENS - reservedTokens);
  if (estimateTokens(transcript) <= budget) {
    run.progress(10, 'writing the summary');
    return { texts: await requestReply(deps, step, buildTextsPrompt({ transcript }, config), parseTexts), parts: 1 };
  }
  const parts = splitByTokens(transcript, budget);
  let notes = await summarizeParts(deps, step, parts, { from: 5, to: 70 });
  while (notes.length > 1 && estimateTokens(JSON.stringify(notes)) > budget) {
    const groups = groupByTokens(notes, budget).map((group) => group.join('\n\n'));
    notes = await summarizeParts(deps, step, groups, { from: 70, to: 85 });
  }
  run.progress(85, 'writing the summary');
  return {
    texts: await requestReply(deps, step, buildTextsPrompt({ notes }, config), parseTexts),
    parts: parts.length,
  };
}

async function summarizeParts(
  deps: SummaryDependencies,
  step: Step,
  parts: readonly string[],
  percent: { from: number; to: number },
): Promise<string[]> {
  const notes: string[] = [];
  for (const [index, part] of parts.entries()) {
    step.run.progress(
      percent.from + (index / parts.length) * (percent.to - percent.from),
      `reading part ${index + 1} of ${parts.length}`,
    );
    notes.push(
      await requestReply(deps, step, buildNotesPrompt(part, index + 1, parts.length, step.config), parseNotes),
    );
  }
  return notes;
}

/** Requests a reply and retries until it is usable. @throws UnusableReply, ModelFailure */
async function requestReply<T>(
  deps: SummaryDependencies,
  { run }: Step,
  messages: readonly PromptMessage[],
  read: (text: string) => T,
): Promise<T> {
  if (deps.model === undefined)
    throw new RetryLater('No language model is configured. Set LLM_BASE_URL.', { delayMs: notConfiguredDelayMs });
  let prompt = messages;
  for (let count = 1; ; count += 1) {
    const { text } = await deps.model.complete({
      agentId: null,
      purpose: 'publishing',
      messages: prompt,
      signal: run.signal,
    });
    try {
      return read(text);
    } catch (error) {
      if (!(error instanceof UnusableReply) || count === maxReplies) throw error;
      prompt = buildRetryPrompt(messages, text, error.message);
    }
  }
}
