/**
 * Applies a workspace document: validates the whole document, then writes it in one transaction
 * (rules/workspace#workspace-file).
 */
import { type AuditContext, recordAudit } from '#libs/infrastructure/audit';
import type { Static } from '#libs/infrastructure/contract';
import { appError, type AppError } from '#libs/infrastructure/errors';
import type { EventOutbox } from '#libs/infrastructure/feed';
import type { HistoryContext, Tracked } from '#libs/product/history';
import type { Jobs } from '#libs/infrastructure/jobs';
import { isJsonObject, parseJson } from '#libs/infrastructure/json';
import { sqlStateOf, transactionOrDryRun, type Tx } from '#libs/infrastructure/orm';
import type { Dependencies } from '../dependencies.ts';
import { changeTokens, findPasswordProblem, type Passwords } from '../accounts/index.ts';
import { readInfoFields } from '../classes/index.ts';
import { holonEvents, journeyEvents, peopleEvents } from '../events/contract.ts';
import { emitWritten } from '../events/index.ts';
import { lockWorkspace } from '../person-rows/index.ts';
import type { workspaceRpcs } from './contract.ts';
import { nameChanges } from './name-changes.ts';
import { readWorkspaceEdits } from './read-edits.ts';
import { readStored } from './read-stored.ts';
import { ChangeLog, labelOf } from './rules/changes.ts';
import { checkDocument, identityOf, type Lists } from './rules/check-document.ts';
import { noEdits, type WorkspaceEdits, withoutEdits } from './rules/edits.ts';
import { type DocumentNames, namesIn, resolveItems, type Target, type Targets } from './rules/resolve.ts';
import { listFieldProblems, type Path, type Problem } from './rules/values.ts';
import { type ListName, listNames } from './rules/vocabulary.ts';
import {
  deferParents,
  deriveClasses,
  findClassCycles,
  findClassFields,
  findHashes,
  findHolonCycles,
} from './statements/lookups.ts';
import { lockItems, lockStepsOfJourneys } from './statements/locks.ts';
import { writeItems, type Written } from './write.ts';

export type WorkspaceDependencies = Pick<Dependencies, 'db' | 'jobs' | 'eventOutbox' | 'history' | 'passwords'>;

type Applied = Static<typeof workspaceRpcs.applyWorkspace.reply>;

interface ApplyOptions {
  readonly dryRun: boolean;
  /** Leave fields alone that were changed over the API since the file last changed them (W11). */
  readonly keepEdits: boolean;
}

/** Maximum reported problems. A larger number is caused by one repeated mistake. */
const maxProblems = 5_000;
const maxAttempts = 3;
/** SQL state of a conflict with a concurrent writer that used a slug. A retry sees the writer's change. */
const uniqueViolation = '23505';

/**
 * Applies a workspace document. @throws AppError `invalid_workspace` with all problems (details `problems`: `[{path,
 * message}]`); nothing is changed then
 */
export async function applyWorkspace(
  deps: WorkspaceDependencies,
  context: AuditContext,
  document: unknown,
  options: ApplyOptions,
): Promise<Applied> {
  const { dryRun } = options;
  const { lists, problems: found } = checkDocument(document);
  const problems = [...found, ...findRefusedPasswords(deps.passwords, lists)];
  const hashes = problems.length === 0 ? await hashPasswords(deps, lists, problems, dryRun) : new Map<string, string>();
  const work = (tx: Tx): Promise<Applied> =>
    applyIn(tx, { ...deps, context }, document, { lists, problems }, hashes, options);
  for (let attempt = 1; ; attempt++) {
    try {
      return await transactionOrDryRun(deps.jobs, dryRun, work);
    } catch (error) {
      if (attempt >= maxAttempts || sqlStateOf(error) !== uniqueViolation) throw error;
    }
  }
}

async function applyIn(
  tx: Tx,
  { context, ...deps }: WriteDependencies & { readonly context: AuditContext },
  document: unknown,
  checked: { lists: Lists; problems: readonly Problem[] },
  hashes: ReadonlyMap<string, string>,
  { dryRun, keepEdits }: ApplyOptions,
): Promise<Applied> {
  const history = { subject: context.subject, actor: context.actor, via: 'file' };
  const log = new ChangeLog({ source: 'workspace', accountId: null });
  const request = {
    names: namesIn(document),
    checked,
    hashes,
    history,
    log,
    isRecorded: !dryRun,
    edits: keepEdits ? ('keep' as const) : dryRun ? ('mark' as const) : undefined,
    refuse: invalidWorkspace,
  };
  const { targets, written, edits } = await writeDocument(tx, deps, request);
  const summary = log.summarize(targets, edits);
  if (summary.created + summary.updated > 0) {
    recordAudit(tx, context, { changes: log.describe(targets, (target) => written.idOfTarget('accounts', target)) });
  }
  return { ...summary, diff: await nameChanges(tx, summary.diff), ids: idsOf(targets, written, dryRun) };
}

export type WriteDependencies = Pick<Dependencies, 'jobs' | 'eventOutbox' | 'history'>;

export interface WriteRequest {
  readonly names: DocumentNames;
  readonly checked: { readonly lists: Lists; readonly problems: readonly Problem[] };
  readonly hashes: ReadonlyMap<string, string>;
  readonly history: HistoryContext;
  readonly log: ChangeLog;
  /** Whether to write history entries and events. */
  readonly isRecorded: boolean;
  /** Whether to read edits over the API, and to leave edited fields alone; default: neither (W11). */
  readonly edits?: 'mark' | 'keep' | undefined;
  readonly refuse: (problems: readonly Problem[]) => AppError;
}

interface WrittenDocument {
  readonly targets: Targets;
  readonly written: Written;
  /** The stored items of each list as they were before. */
  readonly tracked: ReadonlyMap<ListName, Tracked>;
  readonly edits: WorkspaceEdits;
}

/**
 * Resolves and writes a checked document, with its history and events. `tracked` has the stored items of each list as
 * they were before. @throws AppError of `refuse` with all problems
 */
export async function writeDocument(
  tx: Tx,
  { jobs, eventOutbox, history }: WriteDependencies,
  { names, checked, hashes, history: cause, log, isRecorded, edits: mode, refuse }: WriteRequest,
): Promise<WrittenDocument> {
  await lockWorkspace(tx);
  await deferParents(tx);
  const stored = await readStored(tx, checked.lists);
  const { targets: found, problems } = resolveItems(checked.lists, names, stored);
  const all = [...checked.problems, ...problems];
  if (all.length > 0) throw refuse(all);
  if (isRecorded) await lockStored(tx, found);
  const edits = mode === undefined ? noEdits : await readWorkspaceEdits(tx, found, stored);
  const targets = mode === 'keep' ? withoutEdits(found, stored, edits) : found;
  const tracked = new Map<ListName, Tracked>();
  for (const list of isRecorded ? listNames : []) {
    tracked.set(list, await history.recordChanges(tx, cause, list, storedIds(targets[list])));
  }
  const written = await writeItems(tx, targets, stored, hashes, log);
  const cycles = await findCycles(tx, targets, log, written);
  if (cycles.length > 0) throw refuse(cycles);
  if (targets.classes.length > 0) await deriveClasses(tx);
  const unfit = await findUnfitInfos(tx, targets, written);
  if (unfit.length > 0) throw refuse(unfit);
  if (isRecorded) {
    await emitChanges(tx, { jobs, eventOutbox }, targets, log, written);
    for (const list of listNames) {
      const fresh = targets[list].filter(({ storedId }) => storedId === undefined);
      history.created(
        tx,
        cause,
        list,
        fresh.map((target) => written.idOfTarget(list, target)),
      );
    }
  }
  return { targets, written, tracked, edits };
}

const storedIds = (targets: readonly Target[]): number[] => targets.flatMap(({ storedId }) => storedId ?? []);

/** Locks the stored items, so that edits over the API are either read here or wait and are applied afterwards. */
async function lockStored(tx: Tx, targets: Targets): Promise<void> {
  for (const [list, lock] of Object.entries(lockItems)) {
    const ids = storedIds(targets[list as ListName]);
    if (ids.length > 0) await lock(tx, { ids });
    if (ids.length > 0 && list === 'journeys') await lockStepsOfJourneys(tx, { ids });
  }
}

function invalidWorkspace(problems: readonly Problem[]): AppError {
  const listed = problems.slice(0, maxProblems);
  const count = problems.length === 1 ? 'a problem' : `${problems.length} problems`;
  return appError('bad_request', 'invalid_workspace', `The workspace has ${count}; nothing was changed.`, {
    problems: listed,
  });
}

function findRefusedPasswords(passwords: Passwords, { accounts }: Lists): Problem[] {
  return accounts
    .filter(({ value: { password } }) => typeof password === 'string' && passwords.isRefused(password))
    .map(({ path }) => ({ path: [...path, 'password'], message: 'must not be a publicly known password' }));
}

/**
 * Hashes the passwords that differ from the stored ones, by lower-case email, and adds problems of unsuitable
 * passwords. Stored passwords are not checked again, so that a file can be applied repeatedly.
 */
async function hashPasswords(
  { db, passwords }: WorkspaceDependencies,
  lists: Lists,
  problems: Problem[],
  dryRun: boolean,
): Promise<Map<string, string>> {
  const passwordsByEmail = new Map<string, { readonly password: string; readonly path: Path }>();
  for (const { value, path } of lists.accounts) {
    const { password } = value;
    if (typeof password === 'string')
      passwordsByEmail.set(identityOf('accounts', value), { password, path: [...path, 'password'] });
  }
  const stored = new Map<string, string | null>();
  if (passwordsByEmail.size > 0) {
    for (const row of await findHashes(db, { emails: [...passwordsByEmail.keys()] }))
      stored.set(row.email, row.password_hash);
  }
  const hashes = new Map<string, string>();
  const hashOne = async (email: string, password: string, path: Path): Promise<void> => {
    const known = stored.get(email);
    if (typeof known === 'string' && (await passwords.verify(password, known))) return;
    const problem = await findPasswordProblem(password, email);
    if (problem !== undefined) problems.push({ path: [...path], message: problem });
    else hashes.set(email, dryRun ? 'dry run' : await passwords.hash(password));
  };
  // Two passwords are hashed at a time, since logins use the same queue.
  const waiting = [...passwordsByEmail];
  const worker = async (): Promise<void> => {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop())
      await hashOne(next[0], next[1].password, next[1].path);
  };
  await Promise.all([worker(), worker()]);
  return hashes;
}

async function findCycles(tx: Tx, targets: Targets, log: ChangeLog, written: Written): Promise<Problem[]> {
  const problems: Problem[] = [];
  const add = async (list: 'classes' | 'holons', find: () => Promise<{ id: number }[]>): Promise<void> => {
    const changed = new Set(log.changedIds(list, ['parent_id']));
    const suspects = targets[list].filter(({ storedId }) => storedId === undefined || changed.has(storedId));
    if (suspects.length === 0) return;
    const found = new Set((await find()).map(({ id }) => id));
    for (const target of suspects) {
      if (!found.has(written.idOfTarget(list, target))) continue;
      problems.push({ path: [...target.item.path, 'parent'], message: `"${target.key}" would be its own ancestor` });
    }
  };
  await add('classes', () => findClassCycles(tx));
  await add('holons', () => {
    const changed = log.changedIds('holons', ['parent_id']);
    const created = targets.holons
      .filter(({ storedId }) => storedId === undefined)
      .map((target) => written.idOfTarget('holons', target));
    return findHolonCycles(tx, { ids: [...changed, ...created] });
  });
  return problems;
}

/**
 * Checks info fields after the write, since a field's type is known only after holons have their class and classes
 * their ancestors.
 */
async function findUnfitInfos(tx: Tx, { holons }: Targets, written: Written): Promise<Problem[]> {
  const byId = new Map(holons.map((target) => [written.idOfTarget('holons', target), target.item]));
  const ids = [...byId].filter(([, { value }]) => isJsonObject(value['infos'])).map(([id]) => id);
  const rows = ids.length === 0 ? [] : await findClassFields(tx, { holonIds: ids });
  return rows.flatMap(({ holon_ids: holonIds, info_field_groups: groups }) => {
    const fields = readInfoFields(parseJson(groups));
    return holonIds.flatMap((id) => {
      const item = byId.get(id);
      const infos = item?.value['infos'];
      return item === undefined || !isJsonObject(infos)
        ? []
        : listFieldProblems(fields, infos, [...item.path, 'infos']);
    });
  });
}

/**
 * Returns a map from key to id of all items, and of named steps as `<journey>/<step>`. A dry run returns only existing
 * items.
 */
function idsOf(targets: Targets, written: Written, dryRun: boolean): Record<string, Record<string, number>> {
  const ids: [string, Record<string, number>][] = listNames
    .filter((list: ListName) => targets[list].length > 0)
    .map((list) => {
      const known = targets[list].filter(({ storedId }) => !dryRun || storedId !== undefined);
      return [
        list,
        Object.fromEntries(known.map((target) => [labelOf(list, target), written.idOfTarget(list, target)])),
      ];
    });
  if (written.stepIds.size > 0) ids.push(['steps', dryRun ? {} : Object.fromEntries(written.stepIds)]);
  return Object.fromEntries(ids);
}

/** Maximum ids in an event. With more changes the event clears the caches instead of listing ids. */
const maxNamedIds = 1_000;
/** Lists whose changes are feed events (V1). */
const feedLists = [
  ['people', 'person'],
  ['holons', 'holon'],
  ['memberships', 'membership'],
  ['relationships', 'relationship'],
] as const;

interface EmitTargets {
  readonly jobs: Jobs;
  readonly eventOutbox: EventOutbox;
}

/** Emits events for other services and the feed, in the transaction of the application. */
export async function emitChanges(
  tx: Tx,
  { jobs, eventOutbox }: EmitTargets,
  targets: Targets,
  log: ChangeLog,
  written: Written,
): Promise<void> {
  const created = (list: ListName): number[] =>
    targets[list].filter(({ storedId }) => storedId === undefined).map((target) => written.idOfTarget(list, target));
  const touched = (list: ListName): number[] => [...created(list), ...log.changedIds(list)];
  for (const [list, kind] of feedLists) {
    const fresh = new Set(created(list));
    await emitWritten(eventOutbox, tx, kind, 'created', [...fresh]);
    await emitWritten(
      eventOutbox,
      tx,
      kind,
      'updated',
      log.changedIds(list).filter((id) => !fresh.has(id)),
    );
  }
  const emit = async (event: typeof peopleEvents.peopleChanged, ids: readonly number[] | null): Promise<void> => {
    if (ids?.length === 0) return;
    await jobs.emit(tx, event, { ids: ids === null || ids.length > maxNamedIds ? null : [...ids] });
  };
  const classes = touched('classes');
  await emit(peopleEvents.peopleChanged, touched('people'));
  await emit(holonEvents.holonsChanged, classes.length > 0 ? null : touched('holons'));
  // A holon that changes its class can start or stop owning journeys (D18d).
  const ownersChanged = classes.length > 0 || log.changedIds('holons', ['class_id']).length > 0;
  await emit(
    journeyEvents.journeysChanged,
    ownersChanged ? null : [...new Set([...touched('journeys'), ...written.reattachedJourneys])],
  );

  await changeTokens(tx, jobs, log.changedIds('accounts', ['is_active']), 'end');
  await changeTokens(tx, jobs, log.changedIds('accounts', ['password']), 'sign-out');
  await changeTokens(
    tx,
    jobs,
    log.changedIds('accounts', ['person_id', 'superuser', 'global_editor', 'groups']),
    'refresh',
  );
}
