/**
 * `workspace apply FILE`, `workspace diff FILE` and `workspace export`: imports, compares and exports set-up data as a declarative file
 * (rules/workspace#workspace-file).
 */
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { ReplyOf } from '#libs/infrastructure/contract';
import { AppError } from '#libs/infrastructure/errors';
import { isJsonObject } from '#libs/infrastructure/json';
import { agents } from '#services/agents';
import { directory } from '#services/directory';
import { readSplitWorkspace } from './bulk-import/conversation-list.ts';
import { ConversationImport } from './bulk-import/import.ts';
import type { CliContext } from './context.ts';
import { CliError, exitCodes } from './failure.ts';
import { registerExport } from './workspace-export.ts';
import { standardInput, type FileProblem, type WorkspaceFile } from './workspace-file.ts';

type Applied = ReplyOf<typeof directory.rpcs.applyWorkspace>;
type Change = Applied['diff'][number];

/**
 * Maximum length of a document that is sent in one message. Larger documents are split, since messages have at most 8
 * MiB and escaping makes JSON longer.
 */
const maxDirectCharacters = 2_000_000;
const partCharacters = 1_000_000;

export function register(workspace: Command, context: CliContext): void {
  registerExport(workspace, context);
  workspace
    .command('apply <file>')
    .description('Applies a workspace file (YAML or JSON, - for standard input) in one transaction; can be repeated')
    .option('--dry-run', 'show the changes without applying them')
    .option('--keep-edits', 'leave fields alone that were changed over the API since the file last changed them')
    .option('--json', 'print {created, updated, unchanged, ids}')
    .action(async (file: string, options: { dryRun?: true; keepEdits?: true }) => {
      const dryRun = options.dryRun === true;
      const applied = await applyFile(context, findFile(file), { dryRun, keepEdits: options.keepEdits === true });
      const { created, updated, unchanged, ids, diff } = applied;
      const counts = { created, updated, unchanged, ids };
      context.print(dryRun ? { ...counts, diff } : counts, ...summarize(applied, dryRun));
    });
  workspace
    .command('diff <file>')
    .description(
      'Prints what `workspace apply` would change, and marks fields that were changed over the API since the file last changed them; ' +
        'exits with 0 without changes and with 3 otherwise',
    )
    .option('--json', 'print {diff}')
    .action(async (file: string) => {
      const { diff, diff_truncated: isTruncated } = await applyFile(context, findFile(file), {
        dryRun: true,
        keepEdits: false,
      });
      context.print({ diff: diff.map(toDifference), truncated: isTruncated }, ...summarizeDiff(diff, isTruncated));
      if (diff.length > 0) process.exitCode = exitCodes.differs;
    });
}

/**
 * Resolves relative paths from the folder in which the user called npm, because npm runs scripts in the project's
 * folder.
 */
function findFile(file: string): string {
  if (file === '-') return standardInput;
  const fromUser = resolve(process.env['INIT_CWD'] ?? '.', file);
  return existsSync(fromUser) ? fromUser : resolve(file);
}

interface ApplyOptions {
  readonly dryRun: boolean;
  readonly keepEdits: boolean;
}

async function applyFile(context: CliContext, name: string, { dryRun, keepEdits }: ApplyOptions): Promise<Applied> {
  const { file, conversations, misplaced } = await readSplitWorkspace(name);
  const { agentItems, rest } = splitDocument(file.document);
  const send = await createSender(context, rest, keepEdits);
  const applyAgents = (dry: boolean): Promise<Applied> =>
    context
      .call(agents.rpcs.applyWorkspace, { agents: agentItems ?? [], dry_run: dry, keep_edits: keepEdits })
      .then((reply) => ({ ...reply, diff_truncated: false }));
  const bulk = conversations === undefined ? undefined : new ConversationImport(context, name, rest, conversations);

  // Lists of the file belong to several services: all validate before the first one writes.
  const checkFirst = dryRun || agentItems !== undefined || bulk !== undefined || misplaced || file.problems.length > 0;
  const problems: FileProblem[] = [...file.problems];
  if (misplaced) problems.push({ path: ['conversations'], message: 'must be a list' });
  const rehearsals: Applied[] = [];
  if (checkFirst) {
    rehearsals.push(...(await collectProblems(() => send(true), [], problems)));
    if (agentItems !== undefined)
      rehearsals.push(...(await collectProblems(() => applyAgents(true), ['agents'], problems)));
    if (bulk !== undefined) problems.push(...(await bulk.check()));
  }
  if (problems.length > 0) throw toWorkspaceError(name, file, problems);
  if (dryRun)
    return [...rehearsals, ...(bulk === undefined ? [] : [await importConversations(bulk, true)])].reduce(join);
  const [own] = await collectProblems(() => send(false), [], problems);
  if (own === undefined) throw toWorkspaceError(name, file, problems);
  const applied = agentItems === undefined ? own : join(own, await applyAgents(false));
  return bulk === undefined ? applied : join(applied, await importConversations(bulk, false));
}

async function importConversations(bulk: ConversationImport, dryRun: boolean): Promise<Applied> {
  const { created, updated, unchanged, ids, diff, diffTruncated } = await bulk.apply(dryRun);
  return { created, updated, unchanged, ids: { conversations: ids }, diff, diff_truncated: diffTruncated };
}

/** Splits the list of agents from the rest, which the directory validates. */
function splitDocument(document: unknown): { agentItems: unknown[] | undefined; rest: unknown } {
  if (!isJsonObject(document) || !Array.isArray(document['agents'])) return { agentItems: undefined, rest: document };
  return {
    agentItems: document['agents'] as unknown[],
    rest: Object.fromEntries(Object.entries(document).filter(([key]) => key !== 'agents')),
  };
}

async function createSender(
  context: CliContext,
  document: unknown,
  keepEdits: boolean,
): Promise<(dryRun: boolean) => Promise<Applied>> {
  const { applyWorkspace, uploadWorkspace } = directory.rpcs;
  const text = JSON.stringify(document ?? null);
  if (text.length <= maxDirectCharacters)
    return (dryRun) => context.call(applyWorkspace, { document, dry_run: dryRun, keep_edits: keepEdits });
  const uploadId = randomUUID().replaceAll('-', '');
  for (let start = 0, part = 0; start < text.length; part++) {
    let end = Math.min(start + partCharacters, text.length);
    if (/[\uD800-\uDBFF]/.test(text.charAt(end - 1))) end--; // do not split a surrogate pair
    await context.call(uploadWorkspace, { upload_id: uploadId, part, text: text.slice(start, end) });
    start = end;
  }
  return (dryRun) => context.call(applyWorkspace, { upload_id: uploadId, dry_run: dryRun, keep_edits: keepEdits });
}

/** Runs `work` and adds problems of the document to `problems`. Rethrows other errors. */
async function collectProblems(
  work: () => Promise<Applied>,
  prefix: readonly string[],
  problems: FileProblem[],
): Promise<Applied[]> {
  try {
    return [await work()];
  } catch (error) {
    if (!(error instanceof AppError) || error.reason !== 'invalid_workspace') throw error;
    const found = error.details['problems'];
    for (const problem of Array.isArray(found) ? (found as FileProblem[]) : []) {
      const path = prefix.every((part, index) => problem.path[index] === part)
        ? problem.path
        : [...prefix, ...problem.path];
      problems.push({ path, message: problem.message });
    }
    return [];
  }
}

function toWorkspaceError(name: string, file: WorkspaceFile, found: readonly FileProblem[]): CliError {
  const problems = found
    .map(({ path, message, line = file.lineOf(path) }) => ({ line, path: showPath(path), message }))
    .toSorted((left, right) => left.line - right.line);
  const lines = problems.map(
    ({ line, path, message }) => `${name}:${line}: ${path}${path === '' ? '' : ': '}${message}`,
  );
  const count = problems.length === 1 ? '1 problem' : `${problems.length} problems`;
  return new CliError([...new Set(lines), `${count}; nothing changed.`].join('\n'), 'invalid_workspace', {
    file: name,
    problems,
  });
}

/** Returns a path as text, e.g. `people[3].contact.email`. */
function showPath(path: readonly (string | number)[]): string {
  return path.map((part, index) => (typeof part === 'number' ? `[${part}]` : index === 0 ? part : `.${part}`)).join('');
}

function join(left: Applied, right: Applied): Applied {
  return {
    created: left.created + right.created,
    updated: left.updated + right.updated,
    unchanged: left.unchanged + right.unchanged,
    ids: { ...left.ids, ...right.ids },
    diff: [...left.diff, ...right.diff],
    diff_truncated: left.diff_truncated || right.diff_truncated,
  };
}

function summarize(
  { created, updated, unchanged, diff, diff_truncated: isTruncated }: Applied,
  dryRun: boolean,
): string[] {
  if (!dryRun) return [`${created} created, ${updated} updated, ${unchanged} unchanged.`];
  return [
    ...diff.flatMap(showChange),
    ...(isTruncated ? ['… and more'] : []),
    `${created} would be created, ${updated} updated, ${unchanged} unchanged. Nothing changed.`,
  ];
}

/** A change with `edited` in every field. */
function toDifference({ list, key, action, edited, fields }: Change) {
  return {
    list,
    key,
    action,
    ...(edited === true ? { edited } : {}),
    fields: fields.map((field) => ({ ...field, edited: field.edited === true })),
  };
}

function summarizeDiff(diff: readonly Change[], isTruncated: boolean): string[] {
  if (diff.length === 0) return ['No changes.'];
  const edited = diff.filter((change) => change.edited === true).length;
  const notes =
    edited === 0 ? '' : ` ${edited} with edits over the API; \`--keep-edits\` of \`workspace apply\` keeps them.`;
  const more = isTruncated ? ['… and more'] : [];
  return [...diff.flatMap(showChange), ...more, `${diff.length} changed items.${notes}`];
}

function showChange({ list, key, action, edited, fields }: Change): string[] {
  if (action === 'create') return [`+ ${list} ${key}${edited === true ? ' (deleted over the API)' : ''}`];
  return [
    `~ ${list} ${key}`,
    ...fields.map(
      ({ field, old, new: next, edited: isEdited }) =>
        `    ${field}: ${JSON.stringify(old)} → ${JSON.stringify(next)}${isEdited === true ? ' (edited over the API)' : ''}`,
    ),
  ];
}
