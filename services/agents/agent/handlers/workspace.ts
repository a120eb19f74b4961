/** Reading agents, and applying and exporting the workspace file (rules/workspace#workspace-file). */
import { listSome, recordAudit } from '#libs/infrastructure/audit';
import { replaceSecrets } from '#libs/infrastructure/config';
import type { ReplyOf } from '#libs/infrastructure/contract';
import { appError, notFound } from '#libs/infrastructure/errors';
import { diffPaths, type Edits, type FieldPath, findRemoved, readEdits } from '#libs/product/history';
import { isJsonObject, parseJson } from '#libs/infrastructure/json';
import { type Handler, type Handlers, rawJson } from '#libs/infrastructure/nats';
import type { Database, Tx } from '#libs/infrastructure/orm';
import type { agents } from '../../contract.ts';
import type { Dependencies } from '../../dependencies.ts';
import { renderAgent } from '../index.ts';
import { createAgentCheck, type Item } from '../rules/check-items.ts';
import {
  compareJson,
  insertAgent,
  listAgents,
  listAgentsAfter,
  lockAgents,
  type StoredAgent,
  updateAgent,
} from '../statements/agents.ts';

type Change = ReplyOf<typeof agents.rpcs.applyWorkspace>['diff'][number];

interface Tally {
  created: number;
  updated: number;
  unchanged: number;
  ids: Record<string, number>;
  diff: Change[];
}

interface Edited {
  readonly edits: ReadonlyMap<number, Edits>;
  readonly removed: ReadonlySet<string>;
}

const hidden = '(hidden)';
const agentsPerPage = 100;

export function createAgentHandlers({
  config,
  db,
  history,
}: Pick<Dependencies, 'config' | 'db' | 'history'>): Pick<
  Handlers<typeof agents>,
  'getAgent' | 'applyWorkspace' | 'exportWorkspace'
> {
  return {
    getAgent: async ({ slug }) => {
      const json = await renderAgent(db, slug);
      if (json === undefined) throw notFound();
      return rawJson(json);
    },
    applyWorkspace: createApplyWorkspace({ db, history }, config.ALLOW_UNSIGNED_WEBHOOKS),
    exportWorkspace: createExportWorkspace(db),
  };
}

/**
 * Applies the `agents` list of a workspace file. A field that an item does not contain remains unchanged; null empties
 * it. Secrets are compared and stored, but never returned (D33e).
 * @param allowUnsigned accept bots without a webhook secret (D64)
 */
function createApplyWorkspace(
  { db, history }: Pick<Dependencies, 'db' | 'history'>,
  allowUnsigned: boolean,
): Handler<typeof agents.rpcs.applyWorkspace> {
  const findProblems = createAgentCheck(allowUnsigned);
  return async ({ agents: received, dry_run: dryRun, keep_edits: keepEdits = false }, context) => {
    const problems = findProblems(received);
    if (problems.length > 0)
      throw appError(
        'bad_request',
        'invalid_workspace',
        'The agents of the workspace file are invalid. Nothing was changed.',
        {
          problems,
        },
      );
    const items = received as Item[];
    const tally: Tally = { created: 0, updated: 0, unchanged: 0, ids: {}, diff: [] };
    await db.transaction(async (tx) => {
      Object.assign(tally, { created: 0, updated: 0, unchanged: 0, ids: {}, diff: [] });
      await lockAgents(tx);
      const stored = new Map(
        (await listAgents(tx, { slugs: items.map(({ slug }) => slug) })).map((agent) => [agent.slug, agent]),
      );
      const storedIds = [...stored.values()].map(({ id }) => id);
      const edited = dryRun || keepEdits ? await readEdited(tx, items, stored) : undefined;
      const fromFile = { subject: context.subject, actor: context.actor, via: 'file' };
      if (!dryRun) await history.recordChanges(tx, fromFile, 'agents', storedIds);
      for (const item of items) {
        const agent = stored.get(item.slug);
        const isUnchanged = keepEdits && edited?.removed.has(item.slug) === true;
        if (!isUnchanged) await applyItem(tx, item, agent, { dryRun, keepEdits, edited }, tally);
      }
      if (dryRun || tally.diff.length === 0) return;
      const created = tally.diff.flatMap(({ key, action }) => (action === 'create' ? (tally.ids[key] ?? []) : []));
      history.created(tx, fromFile, 'agents', created);
      const changed = tally.diff.map(({ key, action, fields }) => ({
        agent: key,
        action,
        fields: fields.map(({ field }) => field),
      }));
      recordAudit(tx, context, { changes: listSome(changed, 'agents') });
    });
    return { ...tally, ids: { agents: tally.ids } };
  };
}

/** Reads what was changed and deleted over the API since the file last changed it (W24). */
async function readEdited(tx: Tx, items: readonly Item[], stored: ReadonlyMap<string, StoredAgent>): Promise<Edited> {
  const ids = [...stored.values()].map(({ id }) => id);
  const fresh = items.map(({ slug }) => slug).filter((slug) => !stored.has(slug));
  return { edits: await readEdits(tx, 'agents', ids), removed: await findRemoved(tx, 'agents', fresh) };
}

/** Returns all agents as a workspace file. Variable names replace the secrets. */
function createExportWorkspace(db: Database): Handler<typeof agents.rpcs.exportWorkspace> {
  return async ({ after }) => {
    const rows = await listAgentsAfter(db, { after, limit: agentsPerPage });
    const variables = new Set<string>();
    const items = rows.map(({ slug, name, prompt, infos, config }) => ({
      slug,
      name,
      prompt,
      infos: parseJson(infos),
      config: replaceSecrets(parseJson(config), `agents_${slug}`, variables),
    }));
    return {
      items,
      variables: [...variables],
      left_out: 0,
      next: rows.length < agentsPerPage ? null : (rows.at(-1)?.id ?? null),
    };
  };
}

interface ApplyOptions {
  readonly dryRun: boolean;
  readonly keepEdits: boolean;
  readonly edited: Edited | undefined;
}

async function applyItem(
  tx: Tx,
  item: Item,
  stored: StoredAgent | undefined,
  { dryRun, keepEdits, edited }: ApplyOptions,
  tally: Tally,
): Promise<void> {
  const edits = stored === undefined ? undefined : edited?.edits.get(stored.id);
  const values = valuesOf(item, stored, keepEdits ? edits : undefined);
  if (stored === undefined) {
    tally.created++;
    const isRemoved = edited?.removed.has(item.slug) === true;
    const fields = [
      { field: 'name', old: null, new: values.name },
      { field: 'prompt', old: null, new: values.prompt },
      { field: 'infos', old: null, new: item.infos ?? {} },
      { field: 'config', old: null, new: hidden },
    ].map((field) => ({ ...field, ...(isRemoved ? { edited: true } : {}) }));
    tally.diff.push({
      list: 'agents',
      key: item.slug,
      action: 'create',
      ...(isRemoved ? { edited: true } : {}),
      fields,
    });
    if (!dryRun) tally.ids[item.slug] = (await insertAgent(tx, values)).id;
    return;
  }
  tally.ids[item.slug] = stored.id;
  const { infosEqual, configEqual } = await compareJson(tx, {
    infos: stored.infos,
    newInfos: values.infos,
    config: stored.config,
    newConfig: values.config,
  });
  const changes = [
    ...(stored.name === values.name ? [] : [{ field: 'name', old: stored.name, new: values.name }]),
    ...(stored.prompt === values.prompt ? [] : [{ field: 'prompt', old: stored.prompt, new: values.prompt }]),
    ...(infosEqual ? [] : [{ field: 'infos', old: parseJson(stored.infos), new: parseJson(values.infos) }]),
    ...(configEqual ? [] : [{ field: 'config', old: parseJson(stored.config), new: parseJson(values.config) }]),
  ];
  if (changes.length === 0) {
    tally.unchanged++;
    return;
  }
  tally.updated++;
  const fields = changes.map((change) => {
    const isEdited = diffPaths(change.old, change.new, [change.field]).some((path) => edits?.isEdited(path) === true);
    return {
      ...change,
      ...(change.field === 'config' ? { old: hidden, new: hidden } : {}),
      ...(isEdited ? { edited: true } : {}),
    };
  });
  const isEdited = fields.some((field) => 'edited' in field);
  tally.diff.push({
    list: 'agents',
    key: item.slug,
    action: 'update',
    ...(isEdited ? { edited: true } : {}),
    fields,
  });
  if (!dryRun) await updateAgent(tx, { ...values, id: stored.id });
}

/** Returns the values to store. A field that the item does not contain, or that is edited, keeps its value. */
function valuesOf(item: Item, stored: StoredAgent | undefined, edits: Edits | undefined) {
  const isUnchanged = (field: 'name' | 'prompt' | 'infos' | 'config'): boolean =>
    item[field] === undefined ||
    (stored !== undefined && edits?.isEdited([field]) === true && !mergedFields.has(field));
  const objectOf = (field: 'infos' | 'config'): string => {
    if (isUnchanged(field)) return stored?.[field] ?? '{}';
    const given = item[field] ?? {};
    return JSON.stringify(
      edits === undefined ? given : keepPaths(given, parseJson(stored?.[field] ?? '{}'), [field], edits),
    );
  };
  return {
    slug: item.slug,
    name: isUnchanged('name') ? (stored?.name ?? item.name) : item.name,
    prompt: isUnchanged('prompt') ? (stored?.prompt ?? '') : (item.prompt ?? ''),
    infos: objectOf('infos'),
    config: objectOf('config'),
  };
}

const mergedFields: ReadonlySet<string> = new Set(['infos', 'config']);

/** Returns the given value with the stored one at every edited path. */
function keepPaths(given: unknown, stored: unknown, path: FieldPath, edits: Edits): unknown {
  if (!isJsonObject(given) || !isJsonObject(stored)) return edits.isEdited(path) ? stored : given;
  const keys = [...new Set([...Object.keys(stored), ...Object.keys(given)])];
  return Object.fromEntries(
    keys.flatMap((key) => {
      const [own, other] = [given, stored].map((object) => (Object.hasOwn(object, key) ? object[key] : undefined));
      const value = keepPaths(own, other, [...path, key], edits);
      return value === undefined ? [] : [[key, value]];
    }),
  );
}
