/** Applies a workspace document: checked whole, then written whole or not at all (rules/workspace#workspace-file). */
import { type AuditContext, recordAudit } from '#libs/audit';
import type { Static } from '#libs/contract';
import { appError, type AppError } from '#libs/errors';
import type { EventOutbox } from '#libs/feed';
import type { Jobs } from '#libs/jobs';
import { isJsonObject, parseJson } from '#libs/json';
import { type Database, sqlStateOf, transactionOrDryRun, type Tx } from '#libs/orm';
import { changeTokens, findPasswordProblem, type Passwords } from '../accounts/index.ts';
import { readInfoFields } from '../classes/index.ts';
import { holonEvents, journeyEvents, peopleEvents } from '../events/contract.ts';
import { tellWritten } from '../events/index.ts';
import { lockWorkspace } from '../person-rows/index.ts';
import type { workspaceRpcs } from './contract.ts';
import { readStored } from './read-stored.ts';
import { ChangeLog, labelOf } from './rules/changes.ts';
import { checkDocument, identityOf, type Lists } from './rules/check-document.ts';
import { namesIn, resolveItems, type Targets } from './rules/resolve.ts';
import { listFieldProblems, type Path, type Problem } from './rules/values.ts';
import { type ListName, listNames } from './rules/vocabulary.ts';
import { deferParents, deriveClasses, findClassCycles, findClassFields, findHashes, findHolonCycles } from './statements/lookups.ts';
import { writeItems, type Written } from './write.ts';

export interface WorkspaceOptions {
  readonly db: Database;
  readonly jobs: Jobs;
  readonly eventOutbox: EventOutbox;
  readonly passwords: Passwords;
}

type Applied = Static<typeof workspaceRpcs.applyWorkspace.reply>;

/** Problems told at most; a file with more of them has a mistake that repeats. */
const maxProblems = 5_000;
const maxAttempts = 3;
/** Another writer took the same slug or removed a row that was read: the next attempt sees it. */
const lostRaces = new Set(['23505', '23503']);

/**
 * @throws AppError `invalid_workspace` with every problem (details `problems`: `[{path, message}]`); nothing was changed then.
 */
export async function applyWorkspace(
  options: WorkspaceOptions,
  context: AuditContext,
  document: unknown,
  dryRun: boolean,
): Promise<Applied> {
  const { lists, problems: found } = checkDocument(document);
  const problems = [...found, ...findRefusedPasswords(options.passwords, lists)];
  const hashes = problems.length === 0 ? await hashPasswords(options, lists, problems, dryRun) : new Map<string, string>();
  const work = (tx: Tx): Promise<Applied> =>
    applyIn(tx, { jobs: options.jobs, eventOutbox: options.eventOutbox, context }, document, { lists, problems }, hashes, dryRun);
  for (let attempt = 1; ; attempt++) {
    try {
      return await transactionOrDryRun(options.jobs, dryRun, work);
    } catch (error) {
      if (attempt >= maxAttempts || !lostRaces.has(sqlStateOf(error) ?? '')) throw error;
    }
  }
}

async function applyIn(
  tx: Tx,
  { jobs, eventOutbox, context }: { readonly jobs: Jobs; readonly eventOutbox: EventOutbox; readonly context: AuditContext },
  document: unknown,
  checked: { lists: Lists; problems: readonly Problem[] },
  hashes: ReadonlyMap<string, string>,
  dryRun: boolean,
): Promise<Applied> {
  await lockWorkspace(tx);
  await deferParents(tx);
  const stored = await readStored(tx, checked.lists);
  const { targets, problems } = resolveItems(checked.lists, namesIn(document), stored);
  const all = [...checked.problems, ...problems];
  if (all.length > 0) throw invalidWorkspace(all);
  const log = new ChangeLog();
  const written = await writeItems(tx, targets, stored, hashes, log);
  const cycles = await findCycles(tx, targets, log, written);
  if (cycles.length > 0) throw invalidWorkspace(cycles);
  if (targets.classes.length > 0) await deriveClasses(tx);
  const unfit = await findUnfitInfos(tx, targets, written);
  if (unfit.length > 0) throw invalidWorkspace(unfit);
  if (!dryRun) await emitChanges(tx, { jobs, eventOutbox }, targets, log, written);
  const summary = log.summarize(targets);
  if (summary.created + summary.updated > 0) {
    recordAudit(tx, context, { changes: log.describe(targets, (target) => written.idOfTarget('accounts', target)) });
  }
  return { ...summary, ids: idsOf(targets, written, dryRun) };
}

function invalidWorkspace(problems: readonly Problem[]): AppError {
  const shown = problems.slice(0, maxProblems);
  const count = problems.length === 1 ? 'a problem' : `${problems.length} problems`;
  return appError('bad_request', 'invalid_workspace', `The workspace has ${count}; nothing was changed.`, { problems: shown });
}

function findRefusedPasswords(passwords: Passwords, { accounts }: Lists): Problem[] {
  return accounts
    .filter(({ value: { password } }) => typeof password === 'string' && passwords.isRefused(password))
    .map(({ path }) => ({ path: [...path, 'password'], message: 'must not be a password that anybody knows' }));
}

/**
 * New hashes of the passwords that differ from the stored ones, by email in lower case. What is wrong with one is added to `problems`; one that
 * is stored already is not judged, so that a file that was applied can be applied again.
 */
async function hashPasswords(
  { db, passwords }: WorkspaceOptions,
  lists: Lists,
  problems: Problem[],
  dryRun: boolean,
): Promise<Map<string, string>> {
  const given = new Map<string, { readonly password: string; readonly path: Path }>();
  for (const { value, path } of lists.accounts) {
    const { password } = value;
    if (typeof password === 'string') given.set(identityOf('accounts', value), { password, path: [...path, 'password'] });
  }
  const stored = new Map<string, string | null>();
  if (given.size > 0) {
    for (const row of await findHashes(db, { emails: [...given.keys()] })) stored.set(row.email, row.password_hash);
  }
  const hashes = new Map<string, string>();
  const hashOne = async (email: string, password: string, path: Path): Promise<void> => {
    const known = stored.get(email);
    if (typeof known === 'string' && (await passwords.verify(password, known))) return;
    const problem = await findPasswordProblem(password, email);
    if (problem !== undefined) problems.push({ path: [...path], message: problem });
    else hashes.set(email, dryRun ? 'dry run' : await passwords.hash(password));
  };
  // A few at a time: the gate of the password library is shared with logins.
  const waiting = [...given];
  const lane = async (): Promise<void> => {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) await hashOne(next[0], next[1].password, next[1].path);
  };
  await Promise.all([lane(), lane()]);
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
    const created = targets.holons.filter(({ storedId }) => storedId === undefined).map((target) => written.idOfTarget('holons', target));
    return findHolonCycles(tx, { ids: [...changed, ...created] });
  });
  return problems;
}

/** Which field is an address is known once each holon has its class, and each class its ancestors. */
async function findUnfitInfos(tx: Tx, { holons }: Targets, written: Written): Promise<Problem[]> {
  const byId = new Map(holons.map((target) => [written.idOfTarget('holons', target), target.item]));
  const ids = [...byId].filter(([, { value }]) => isJsonObject(value['infos'])).map(([id]) => id);
  const rows = ids.length === 0 ? [] : await findClassFields(tx, { holonIds: ids });
  return rows.flatMap(({ holon_ids: holonIds, info_field_groups: groups }) => {
    const fields = readInfoFields(parseJson(groups));
    return holonIds.flatMap((id) => {
      const item = byId.get(id);
      const infos = item?.value['infos'];
      return item === undefined || !isJsonObject(infos) ? [] : listFieldProblems(fields, infos, [...item.path, 'infos']);
    });
  });
}

/** Key → id of every item of the file, and of the named steps as `<journey>/<step>`; on a dry run only of what exists. */
function idsOf(targets: Targets, written: Written, dryRun: boolean): Record<string, Record<string, number>> {
  const ids: [string, Record<string, number>][] = listNames
    .filter((list: ListName) => targets[list].length > 0)
    .map((list) => {
      const known = targets[list].filter(({ storedId }) => !dryRun || storedId !== undefined);
      return [list, Object.fromEntries(known.map((target) => [labelOf(list, target), written.idOfTarget(list, target)]))];
    });
  if (written.stepIds.size > 0) ids.push(['steps', dryRun ? {} : Object.fromEntries(written.stepIds)]);
  return Object.fromEntries(ids);
}

/** More than this and listeners are told to forget everything instead. */
const maxNamedIds = 1_000;
/** What the feed is told of (V1). */
const toldLists = [
  ['people', 'person'],
  ['holons', 'holon'],
  ['memberships', 'membership'],
  ['relationships', 'relationship'],
] as const;

interface Told {
  readonly jobs: Jobs;
  readonly eventOutbox: EventOutbox;
}

/** Tells the other services and the feed what an application changed, through the outboxes of the same transaction. */
export async function emitChanges(tx: Tx, { jobs, eventOutbox }: Told, targets: Targets, log: ChangeLog, written: Written): Promise<void> {
  const created = (list: ListName): number[] =>
    targets[list].filter(({ storedId }) => storedId === undefined).map((target) => written.idOfTarget(list, target));
  const touched = (list: ListName): number[] => [...created(list), ...log.changedIds(list)];
  for (const [list, kind] of toldLists) {
    const fresh = new Set(created(list));
    await tellWritten(eventOutbox, tx, kind, 'created', [...fresh]);
    await tellWritten(
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
  // A holon of another class may begin or cease to own journeys (D18d).
  const ownersChanged = classes.length > 0 || log.changedIds('holons', ['class_id']).length > 0;
  await emit(journeyEvents.journeysChanged, ownersChanged ? null : [...new Set([...touched('journeys'), ...written.reattachedJourneys])]);

  await changeTokens(tx, jobs, log.changedIds('accounts', ['is_active']), 'end');
  await changeTokens(tx, jobs, log.changedIds('accounts', ['password']), 'sign-out');
  await changeTokens(tx, jobs, log.changedIds('accounts', ['person_id', 'superuser', 'global_editor', 'groups']), 'refresh');
}
