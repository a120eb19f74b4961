/**
 * `agents.workspace.apply`: the `agents` list of a workspace file (rules/workspace#workspace-file; D33e). A field that an item does not
 * name stays as it is; null empties it. Secrets are compared and stored, never shown.
 */
import { listSome, recordAudit } from '#libs/audit';
import { replaceSecrets } from '#libs/config';
import { appError } from '#libs/errors';
import { parseJson } from '#libs/json';
import type { Handler } from '#libs/nats';
import type { Database, Tx } from '#libs/orm';
import type { agents } from '../contract.ts';
import { createAgentCheck, type Item } from './rules.ts';
import { compareJson, insertAgent, listAgents, listAgentsAfter, lockAgents, type StoredAgent, updateAgent } from './statements.ts';

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

/** @param allowUnsigned whether bots need no webhook secret (D64) */
export function createWorkspaceHandler(db: Database, allowUnsigned: boolean): Handler<typeof agents.rpcs.applyWorkspace> {
  const findProblems = createAgentCheck(allowUnsigned);
  return async ({ agents: given, dry_run: dryRun }, context) => {
    const problems = findProblems(given);
    if (problems.length > 0) throw appError('bad_request', 'invalid_workspace', 'The agents have problems', { problems });
    const items = given as Item[];
    const tally: Tally = { created: 0, updated: 0, unchanged: 0, ids: {}, diff: [] };
    await db.transaction(async (tx) => {
      Object.assign(tally, { created: 0, updated: 0, unchanged: 0, ids: {}, diff: [] });
      await lockAgents(tx);
      const stored = new Map((await listAgents(tx, { slugs: items.map(({ slug }) => slug) })).map((agent) => [agent.slug, agent]));
      for (const item of items) await applyItem(tx, item, stored.get(item.slug), dryRun, tally);
      if (dryRun || tally.diff.length === 0) return;
      const changed = tally.diff.map(({ key, action, fields }) => ({ agent: key, action, fields: fields.map(({ field }) => field) }));
      recordAudit(tx, context, { changes: listSome(changed, 'agents') });
    });
    return { ...tally, ids: { agents: tally.ids } };
  };
}

/** `agents.workspace.export`: the list as it would be written now. Secrets never leave the service: names stand in their place. */
export function createWorkspaceExport(db: Database): Handler<typeof agents.rpcs.exportWorkspace> {
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
    return { items, variables: [...variables], left_out: 0, next: rows.length < agentsPerPage ? null : (rows.at(-1)?.id ?? null) };
  };
}

async function applyItem(tx: Tx, item: Item, stored: StoredAgent | undefined, dryRun: boolean, tally: Tally): Promise<void> {
  const wanted = {
    slug: item.slug,
    name: item.name,
    prompt: item.prompt === undefined ? (stored?.prompt ?? '') : (item.prompt ?? ''),
    infos: item.infos === undefined ? (stored?.infos ?? '{}') : JSON.stringify(item.infos ?? {}),
    config: item.config === undefined ? (stored?.config ?? '{}') : JSON.stringify(item.config ?? {}),
  };
  if (stored === undefined) {
    tally.created++;
    const fields = [
      { field: 'name', old: null, new: wanted.name },
      { field: 'prompt', old: null, new: wanted.prompt },
      { field: 'infos', old: null, new: item.infos ?? {} },
      { field: 'config', old: null, new: hidden },
    ];
    tally.diff.push({ list: 'agents', key: item.slug, action: 'create', fields });
    if (!dryRun) tally.ids[item.slug] = (await insertAgent(tx, wanted)).id;
    return;
  }
  tally.ids[item.slug] = stored.id;
  const { infosEqual, configEqual } = await compareJson(tx, {
    infos: stored.infos,
    wantedInfos: wanted.infos,
    config: stored.config,
    wantedConfig: wanted.config,
  });
  const fields = [
    ...(stored.name === wanted.name ? [] : [{ field: 'name', old: stored.name, new: wanted.name }]),
    ...(stored.prompt === wanted.prompt ? [] : [{ field: 'prompt', old: stored.prompt, new: wanted.prompt }]),
    ...(infosEqual ? [] : [{ field: 'infos', old: JSON.parse(stored.infos) as unknown, new: item.infos ?? {} }]),
    ...(configEqual ? [] : [{ field: 'config', old: hidden, new: hidden }]),
  ];
  if (fields.length === 0) {
    tally.unchanged++;
    return;
  }
  tally.updated++;
  tally.diff.push({ list: 'agents', key: item.slug, action: 'update', fields });
  if (!dryRun) await updateAgent(tx, { ...wanted, id: stored.id });
}
