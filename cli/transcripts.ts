/**
 * `transcripts read ID`, `transcripts search` (rules/transcripts#search) and `transcripts verify FILE`
 * (rules/transcripts#import-evidence), which recomputes the import evidence locally from a copy of the artifact.
 */
import { createReadStream } from 'node:fs';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { type TranscriptFormat, transcriptFormats } from '#services/transcripts';
import type { ListImportEvidenceReply, SearchTranscriptsReply } from '../clients/typescript/operations.ts';
import { UnreadableArtifact } from '../services/transcripts/artifact/unreadable.ts';
import {
  compareEvidence,
  hashArtifact,
  recomputeEvidence,
  type Difference,
  type Recomputed,
} from '../services/transcripts/evidence/verify.ts';
import type { CliContext } from './context.ts';
import { CliError } from './failure.ts';
import { moment } from './output/cell.ts';
import { table } from './output/table.ts';
import { parseId, parseLimit, parseOffset, parseTime } from './parse-options.ts';

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
  offset: number;
}

interface SearchOptions {
  person?: number;
  holon?: string;
  journey?: string;
  from?: string;
  to?: string;
  limit: number;
  cursor?: string;
}

function registerReading(group: Command, context: CliContext): void {
  group
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
    .option('--limit <count>', 'maximum number of utterances, at most 1000 (default: all)', parseLimit)
    .option('--offset <count>', 'number of utterances to skip', parseOffset, 0)
    .action(async (id: number, { format = context.json ? 'json' : 'md', person, ...part }: ReadOptions) => {
      const query = { format, ...(person === undefined ? {} : { person_id: person }), ...part };
      const call = { path: { conversation_id: id }, query };
      const { body } = await context.http((api) => api.downloadTranscript(call), `conversation ${id}`);
      if (typeof body === 'string') context.print({ conversation_id: id, format, text: body }, body.trimEnd());
      else context.print(body, JSON.stringify(body, null, 2));
    });

  group
    .command('search')
    .description('Searches transcripts, best match first. Syntax: all words, "a phrase", -excluded, prefix*')
    .argument('<words...>', 'search text')
    .option('--person <id>', 'only utterances of this person', parseId)
    .option('--holon <slug>', 'only conversations whose event is this holon or below it')
    .option('--journey <slug>', 'only conversations of this journey')
    .option(
      '--from <time>',
      'only conversations that start at this time or later: a date, an instant, or an age (7d)',
      (text) => parseTime(text),
    )
    .option('--to <time>', 'only conversations that start before this time', (text) => parseTime(text))
    .option('--limit <count>', 'maximum number of results, at most 100', parseLimit, 20)
    .option('--cursor <cursor>', 'next page, as printed by the previous page of the same search')
    .action(async (words: string[], { person, holon, journey, from, to, limit, cursor }: SearchOptions) => {
      const query = {
        q: words.join(' '),
        ...(person === undefined ? {} : { person_id: person }),
        ...(holon === undefined ? {} : { holon_slug: holon }),
        ...(journey === undefined ? {} : { journey }),
        ...(from === undefined ? {} : { from }),
        ...(to === undefined ? {} : { to }),
        limit: Math.min(limit, 100),
        ...(cursor === undefined ? {} : { cursor }),
      };
      const { items, next } = (await context.http((api) => api.searchTranscripts({ query }))).body;
      const more = next === null ? [] : [`More results: --cursor ${next}`];
      context.print(items, table(items, matchColumns, 'No matches.'), ...more);
    });
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
