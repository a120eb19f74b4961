/** `transcripts verify FILE` (rules/transcripts#import-evidence): recomputes the import evidence from a caller's copy of the artifact, here, row by row. */
import { createReadStream } from 'node:fs';
import type { Command } from 'commander';
import type { ReplyOf } from '#libs/contract';
import { transcripts } from '#services/transcripts';
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
import { parseId } from './parse-id.ts';

interface Options {
  conversation?: number;
}

type Basis = ReplyOf<typeof transcripts.rpcs.listVerificationBases>['items'][number];

interface Result {
  conversation_id: number;
  status: string;
  matches: boolean;
  /** Null when the evidence names no artifact, and so nothing to compare with. */
  copy: Recomputed | null;
  evidence: Basis['evidence'];
  differences: Difference[];
}

export function register(program: Command, context: CliContext): void {
  const group = program.command('transcripts').description('Checks of transcript imports');
  group
    .command('verify')
    .description('Compares your copy of a provider artifact with the evidence of the import that read it; exit status 1 when they differ')
    .argument('<file>', "the artifact, as the provider's download gave it")
    .option('--conversation <id>', 'the conversation; default: every one that imported exactly this file', parseId)
    .action(async (file: string, options: Options) => {
      const sha256 = await reading(file, () => hashArtifact(createReadStream(file)));
      const by = options.conversation === undefined ? { sha256 } : { conversation_id: options.conversation };
      const subject = `transcript import of conversation ${options.conversation}`;
      const { items } = await context.call(transcripts.rpcs.listVerificationBases, by, subject);
      if (items.length === 0)
        throw new CliError(`No conversation imported this file (sha256 ${sha256}). Name one with --conversation to see how it differs.`);
      const results: Result[] = [];
      for (const basis of items) results.push(await verify(file, basis));
      context.print(options.conversation === undefined ? results : results[0], ...results.map(describe));
      if (results.some((result) => !result.matches)) process.exitCode = 1;
    });
}

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
  if (copy === null) return `Conversation ${id} (${status}): no artifact was imported, there is nothing to compare with.`;
  const counts = `${copy.counts.raw} rows, ${copy.counts.accepted} inside the window, sha256 ${copy.sha256}`;
  if (matches) return `Conversation ${id} (${status}): the file is what was imported, and the evidence is right: ${counts}.`;
  const lines = differences.map((item) => `  ${item.field}: evidence ${String(item.evidence)}, file ${String(item.copy)}`);
  return `Conversation ${id} (${status}): the file differs from what was imported.\n${lines.join('\n')}`;
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
