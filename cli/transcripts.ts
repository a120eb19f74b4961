/**
 * `transcripts read ID`, `transcripts search` (rules/transcripts#search) and `transcripts verify FILE`
 * (rules/transcripts#import-evidence), which recomputes the import evidence locally from a copy of the artifact.
 */
import { createReadStream } from 'node:fs';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { type TranscriptFormat, transcriptFormats } from '#services/transcripts';
import type {
  DownloadTranscriptRequest,
  ListImportEvidenceReply,
  SearchTranscriptsReply,
} from '../clients/typescript/operations.ts';
import { UnreadableArtifact } from '../services/transcripts/artifact/unreadable.ts';
import {
  compareEvidence,
  hashArtifact,
  recomputeEvidence,
  type Difference,
  type Recomputed,
} from '../services/transcripts/evidence/verify.ts';
import { withFormerName, withPages, withTimes } from './common-options.ts';
import type { CliContext } from './context.ts';
import { CliError } from './failure.ts';
import { moment } from './output/cell.ts';
import { table } from './output/table.ts';
import { describeNext } from './pages.ts';
import { cursorText, parseId, parseLimit, parseOffset } from './parse-options.ts';

interface Options {
  conversation?: number;
}

type Basis = ListImportEvidenceReply['body']['items'][number];

interface Result {
  conversation_id: number;
  status: string;
  matches: boolean;
  /** The evidence computed from the copy; null when no artifact was imported. */
  copy: Recomputed | null;
  evidence: Basis['evidence'];
  differences: Difference[];
}

export function register(group: Command, context: CliContext): void {
  registerReading(group, context);
  group
    .command('verify')
    .description(
      'Compares a copy of a provider artifact with the evidence of its import; exits with status 1 if they differ',
    )
    .argument('<file>', 'the artifact, as downloaded from the provider')
    .option('--conversation <id>', 'the conversation (default: all that imported this file)', parseId)
    .action(async (file: string, options: Options) => {
      const sha256 = await reading(file, () => hashArtifact(createReadStream(file)));
      const query = options.conversation === undefined ? { sha256 } : { conversation_id: options.conversation };
      const subject = `transcript import of conversation ${options.conversation}`;
      const { items } = (await context.http((api) => api.listImportEvidence({ query }), subject)).body;
      if (items.length === 0)
        throw new CliError(
          `No conversation imported this file (sha256 ${sha256}). Use --conversation to compare it with one.`,
        );
      const results: Result[] = [];
      for (const basis of items) results.push(await verify(file, basis));
      context.print(options.conversation === undefined ? results : results[0], ...results.map(describe));
      if (results.some((result) => !result.matches)) process.exitCode = 1;
    });
}

interface ReadOptions {
  format?: TranscriptFormat;
  person?: number;
  limit?: number;
  cursor: number;
}

interface SearchOptions {
  person?: number;
  holon?: string;
  journey?: string;
  since?: string;
  until?: string;
  limit: number;
  cursor?: string;
}

function registerReading(group: Command, context: CliContext): void {
  const reading = group
    .command('read')
    .description('Writes the transcript of a conversation')
    .argument('<conversation>', 'id', parseId)
    .addOption(
      new Option('--format <format>', 'output format (default: md, with --json json)').choices(transcriptFormats),
    )
    .option(
      '--person <id>',
      'only this speaker: a person id, or the negative id of an unresolved speaker',
      parseSpeaker,
    )
    .option('--limit <count>', 'utterances per page, at most 1000 (default: all)', parseLimit)
    .option('--cursor <cursor>', cursorText, parseOffset, 0);
  withFormerName(reading, '--offset <count>', '--cursor').action(
    async (id: number, { format = context.json ? 'json' : 'md', person, limit, cursor: offset }: ReadOptions) => {
      const query = { format, ...(person === undefined ? {} : { person_id: person }), ...(limit && { limit }), offset };
      const call = { path: { conversation_id: id }, query };
      const { body } = await context.http((api) => api.downloadTranscript(call), `conversation ${id}`);
      const next = await findNext(context, call, limit);
      if (typeof body !== 'string') context.print(body, JSON.stringify(body, null, 2));
      else context.print({ conversation_id: id, format, text: body, next }, body.trimEnd());
      if (next !== null) process.stderr.write(`${describeNext({ next }).join('')}\n`);
    },
  );

  const search = withPages(group.command('search'), 'matches', { max: 100, preset: 20 })
    .description('Searches transcripts, best match first. Syntax: all words, "a phrase", -excluded, prefix*')
    .argument('<words...>', 'search text')
    .option('--person <id>', 'only utterances of this person', parseId)
    .option('--holon <slug>', 'only conversations whose event is this holon or below it')
    .option('--journey <slug>', 'only conversations of this journey');
  withTimes(search, 'only conversations that start');
  withFormerName(search, '--from <time>', '--since');
  withFormerName(search, '--to <time>', '--until').action(
    async (words: string[], { person, holon, journey, since, until, ...pages }: SearchOptions) => {
      const query = {
        q: words.join(' '),
        ...(person === undefined ? {} : { person_id: person }),
        ...(holon === undefined ? {} : { holon_slug: holon }),
        ...(journey === undefined ? {} : { journey }),
        ...(since === undefined ? {} : { from: since }),
        ...(until === undefined ? {} : { to: until }),
        ...pages,
      };
      const page = (await context.http((api) => api.searchTranscripts({ query }))).body;
      context.print(page.items, table(page.items, matchColumns, 'No matches.'), ...describeNext(page));
    },
  );
}

/** Returns the cursor of the next page of a transcript; null at its end. */
async function findNext(context: CliContext, call: DownloadTranscriptRequest, limit: number | undefined) {
  if (limit === undefined) return null;
  const offset = (call.query?.offset ?? 0) + limit;
  const query = { ...call.query, format: 'json', limit: 1, offset } as const;
  const { body } = await context.http((api) => api.downloadTranscript({ ...call, query }));
  return body.segments.length > 0 ? String(offset) : null;
}

function parseSpeaker(text: string): number {
  if (!/^-?[1-9]\d{0,9}$/.test(text)) throw new InvalidArgumentError('must be a person id or a negative speaker id.');
  return Number(text);
}

type Match = SearchTranscriptsReply['body']['items'][number];

const matchColumns = {
  CONVERSATION: ({ conversation: { id } }: Match) => id,
  START: ({ conversation: { start } }: Match) => moment(start),
  TITLE: ({ conversation: { title } }: Match) => title,
  SPEAKER: ({ segment }: Match) => segment.speaker.name,
  SAID: ({ segment }: Match) => segment.text,
};

async function verify(file: string, basis: Basis): Promise<Result> {
  const { evidence } = basis;
  const copy = await reading(file, () => recomputeEvidence(createReadStream(file), basis));
  const differences = copy === undefined ? [] : compareEvidence(evidence, copy);
  return {
    conversation_id: evidence.conversationId,
    status: evidence.status,
    matches: copy !== undefined && differences.length === 0,
    copy: copy ?? null,
    evidence,
    differences,
  };
}

function describe({ conversation_id: id, status, matches, copy, differences }: Result): string {
  if (copy === null) return `Conversation ${id} (${status}): no artifact was imported.`;
  const counts = `${copy.counts.raw} rows, ${copy.counts.accepted} inside the window, sha256 ${copy.sha256}`;
  if (matches) return `Conversation ${id} (${status}): the file matches the import and its evidence: ${counts}.`;
  const lines = differences.map(
    (item) => `  ${item.field}: evidence ${String(item.evidence)}, file ${String(item.copy)}`,
  );
  return `Conversation ${id} (${status}): the file differs from the import.\n${lines.join('\n')}`;
}

async function reading<T>(file: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof UnreadableArtifact) throw new CliError(`${file}: ${error.message}`);
    if (error instanceof Error && 'syscall' in error) throw new CliError(`${file} cannot be read: ${error.message}`);
    throw error;
  }
}
