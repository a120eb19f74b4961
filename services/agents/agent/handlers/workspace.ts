/** Reading agents, and applying and exporting the workspace file (rules/workspace#workspace-file). */
import { listSome, recordAudit } from '#libs/audit';
import { replaceSecrets } from '#libs/config';
import { appError, notFound } from '#libs/errors';
import { parseJson } from '#libs/json';
import { type Handler, type Handlers, rawJson } from '#libs/nats';
import type { Database, Tx } from '#libs/orm';
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

interface Change {
  list: string;
  key: string;
  action: 'create' | 'update';
  fields: { field: string; old: unknown; new: unknown }[];
}
interface Tally {
  created: number;
  updated: number;
  unchanged: number;
  ids: Record<string, number>;
  diff: Change[];
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
  return async ({ agents: received, dry_run: dryRun }, context) => {
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
      const fromFile = { subject: context.subject, actor: context.actor, via: 'file' };
      if (!dryRun) {
        await history.track(
          tx,
          fromFile,
          'agents',
          [...stored.values()].map(({ id }) => id),
        );
      }
      for (const item of items) await applyItem(tx, item, stored.get(item.slug), dryRun, tally);
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

async function applyItem(
  tx: Tx,
  item: Item,
  stored: StoredAgent | undefined,
  dryRun: boolean,
  tally: Tally,
): Promise<void> {
  const values = {
    slug: item.slug,
    name: item.name,
    prompt: item.prompt === undefined ? (stored?.prompt ?? '') : (item.prompt ?? ''),
    infos: item.infos === undefined ? (stored?.infos ?? '{}') : JSON.stringify(item.infos ?? {}),
    config: item.config === undefined ? (stored?.config ?? '{}') : JSON.stringify(item.config ?? {}),
  };
  if (stored === undefined) {
    tally.created++;
    const fields = [
      { field: 'name', old: null, new: values.name },
      { field: 'prompt', old: null, new: values.prompt },
      { field: 'infos', old: null, new: item.infos ?? {} },
      { field: 'config', old: null, new: hidden },
    ];
    tally.diff.push({ list: 'agents', key: item.slug, action: 'create', fields });
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
  const fields = [
    ...(stored.name === values.name ? [] : [{ field: 'name', old: stored.name, new: values.name }]),
    ...(stored.prompt === values.prompt ? [] : [{ field: 'prompt', old: stored.prompt, new: values.prompt }]),
    ...(infosEqual ? [] : [{ field: 'infos', old: JSON.parse(stored.infos) as unknown, new: item.infos ?? {} }]),
    ...(configEqual ? [] : [{ field: 'config', old: hidden, new: hidden }]),
  ];
  if (fields.length === 0) {
    tally.unchanged++;
    return;
  }
  tally.updated++;
  tally.diff.push({ list: 'agents', key: item.slug, action: 'update', fields });
  if (!dryRun) await updateAgent(tx, { ...values, id: stored.id });
}
