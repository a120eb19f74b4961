/** Operations of editors on agents (W6), and the history of an agent (W10). */
import { recordAudit } from '#libs/infrastructure/audit';
import { type Actor, isPossibleId, mayEditWorkspace } from '#libs/infrastructure/contract';
import { maskSecrets } from '#libs/infrastructure/config';
import { AppError, appError, badRequest, notFound } from '#libs/infrastructure/errors';
import { entityTag, requireTag } from '#libs/infrastructure/etag';
import { listHistory, readHistoryCursor } from '#libs/product/history';
import { type JsonObject, parseJson } from '#libs/infrastructure/json';
import {
  type CallContext,
  type HandlersOf,
  type RawJson,
  rawJson,
  withEtag,
  withoutActor,
} from '#libs/infrastructure/nats';
import type { Tx } from '#libs/infrastructure/orm';
import type { Queryable } from '#libs/infrastructure/sql';
import { directory } from '#services/directory';
import type { Dependencies } from '../../dependencies.ts';
import { type agentSetupRpcs, agentsPerPage, maxAgentDataBytes, type NewAgent } from '../contract.ts';
import { createAgentCheck } from '../rules/check-items.ts';
import { mergeConfig } from '../rules/merge-config.ts';
import {
  compareJson,
  type EditedAgent,
  findAgentId,
  findEditedAgent,
  insertAgent,
  listEditedAgents,
  lockAgents,
  markDeleted,
  updateAgent,
} from '../statements/agents.ts';

type SetupDependencies = Pick<Dependencies, 'bus' | 'config' | 'db' | 'history' | 'idempotency'>;
type SetupHandlers = HandlersOf<typeof agentSetupRpcs>;

/** Size after which a page of the list ends. */
const maxPageBytes = 4_194_304;

export function createAgentSetupHandlers(deps: SetupDependencies): SetupHandlers {
  const { db } = deps;
  return {
    listWorkspaceAgents: async ({ q = '', limit = agentsPerPage, cursor = '' }, { actor }) => {
      requireEditor(actor);
      const after = readSlug(cursor);
      const rows = await listEditedAgents(db, { q, after, limit: limit + 1, bytes: maxPageBytes });
      const items = rows.slice(0, limit);
      const last = items.at(-1);
      const hasMore =
        last !== undefined &&
        (await listEditedAgents(db, { q, after: last.slug, limit: 1, bytes: maxPageBytes })).length > 0;
      return rawJson(JSON.stringify({ items: items.map(toAgent), next: hasMore ? last.slug : null }));
    },
    getWorkspaceAgent: async ({ slug }, { actor }) => {
      requireEditor(actor);
      return rawJson(toBody(await getEdited(db, slug)));
    },
    ...createWriteHandlers(deps),
    listAgentHistory: createListHistory(deps),
  };
}

function createWriteHandlers({
  config,
  db,
  history,
  idempotency,
}: SetupDependencies): Pick<SetupHandlers, 'createAgent' | 'updateAgent' | 'deleteAgent'> {
  const check = createItemCheck(config.ALLOW_UNSIGNED_WEBHOOKS);
  return {
    createAgent: (request, context) => {
      requireEditor(context.actor);
      return idempotency.run(context, request, async (tx) => {
        const { slug, name, prompt, infos, config: sent } = request;
        const merged = mergeConfig({}, sent ?? {});
        const values = check({ slug, name, prompt: prompt ?? '', infos: infos ?? {}, config: merged });
        await lockAgents(tx);
        if ((await findEditedAgent(tx, { slug })) !== undefined)
          throw appError('conflict', 'slug_taken', `Another agent has the slug "${slug}".`);
        const { id } = await insertAgent(tx, values);
        history.created(tx, context, 'agents', [id]);
        recordAudit(tx, context, { target: { type: 'agent', id: slug } });
        return tagged(toBody(await getEdited(tx, slug)));
      });
    },
    updateAgent: (request, context) => {
      requireEditor(context.actor);
      return idempotency.run(context, request, async (tx) => {
        const { slug, if_match: condition, ...sent } = request;
        await lockAgents(tx);
        const stored = await getEdited(tx, slug);
        requireTag(condition, entityTag(toBody(stored)));
        const merged = sent.config === undefined ? undefined : readConfig(stored, sent.config);
        check({ ...sent, slug, name: sent.name ?? stored.name, ...(merged === undefined ? {} : { config: merged }) });
        const values = {
          id: stored.id,
          name: sent.name ?? stored.name,
          prompt: sent.prompt === undefined ? stored.prompt : (sent.prompt ?? ''),
          infos: sent.infos === undefined ? stored.infos : JSON.stringify(sent.infos ?? {}),
          config: merged === undefined ? stored.config : JSON.stringify(merged),
        };
        const tracked = await history.recordChanges(tx, context, 'agents', [stored.id]);
        if (await differs(tx, stored, values)) await updateAgent(tx, values);
        const changes = await tracked.changesOf(stored.id);
        const fields = Object.keys(changes);
        if (fields.length > 0) recordAudit(tx, context, { target: { type: 'agent', id: slug }, changes: { fields } });
        const body = toBody(await getEdited(tx, slug));
        return tagged(`${body.slice(0, -1)},"changes":${JSON.stringify(changes)}}`, body);
      });
    },
    deleteAgent: async ({ slug, if_match: condition }, context) => {
      requireEditor(context.actor);
      return await db.transaction(async (tx) => {
        await lockAgents(tx);
        const stored = await getEdited(tx, slug);
        requireTag(condition, entityTag(toBody(stored)));
        await history.recordChanges(tx, context, 'agents', [stored.id]);
        await markDeleted(tx, { id: stored.id });
        recordAudit(tx, context, { target: { type: 'agent', id: slug } });
        return {};
      });
    },
  };
}

function createListHistory({ bus, db }: Pick<SetupDependencies, 'bus' | 'db'>): SetupHandlers['listAgentHistory'] {
  return async ({ id: given, limit = agentsPerPage, cursor }, context) => {
    requireEditor(context.actor);
    const number = /^[1-9]\d{0,9}$/.test(given) ? Number(given) : 0;
    const found = given.includes('\0')
      ? undefined
      : await findAgentId(db, { id: isPossibleId(number) ? number : 0, slug: given });
    if (found === undefined) throw notFound();
    const before = readHistoryCursor(cursor);
    const page = await listHistory(db, { kind: 'agents', objectId: found.id, before, limit });
    const body = parseJson(page.body) as {
      items: { actor: { account_id: number | null; name: string | null } | null }[];
    };
    const names = await findNames(
      bus,
      body.items.flatMap(({ actor }) => actor?.account_id ?? []),
      context,
    );
    for (const { actor } of body.items) if (actor !== null) actor.name = names.get(actor.account_id ?? 0) ?? null;
    return rawJson(JSON.stringify(body));
  };
}

/** Returns the names of the accounts' people. */
async function findNames(
  bus: Dependencies['bus'],
  accounts: readonly number[],
  context: CallContext,
): Promise<ReadonlyMap<number, string | null>> {
  const ids = [...new Set(accounts)];
  if (ids.length === 0) return new Map();
  const { items } = await bus.call(directory.rpcs.nameActors, { ids }, withoutActor(context));
  return new Map(items.map(({ account_id: id, name }) => [id, name]));
}

/** @throws AppError 403 for accounts that may not edit the set-up (W17) */
function requireEditor(actor: Actor | undefined): void {
  if (!mayEditWorkspace(actor))
    throw new AppError({ code: 'permission_denied', message: 'You cannot edit the set-up.' });
}

async function getEdited(db: Queryable, slug: string): Promise<EditedAgent> {
  const agent = slug.includes('\0') ? undefined : await findEditedAgent(db, { slug });
  if (agent === undefined) throw notFound();
  return agent;
}

/** Returns a check of the fields that a request sets, with the rules of the workspace file. */
function createItemCheck(allowUnsigned: boolean) {
  const findProblems = createAgentCheck(allowUnsigned);
  return ({ slug, name, prompt = null, infos = null, config = null }: NewAgent) => {
    const [problem] = findProblems([{ slug, name, prompt, infos, config }]);
    if (problem !== undefined) throw badRequest(`${problem.path.slice(1).join('.')} ${problem.message}`);
    return { slug, name, prompt: prompt ?? '', infos: toText(infos, 'infos'), config: toText(config, 'config') };
  };
}

/** @throws AppError 400 for an object that is too large */
function toText(value: JsonObject | null | undefined, field: string): string {
  const text = JSON.stringify(value ?? {});
  if (Buffer.byteLength(text) > maxAgentDataBytes) throw badRequest(`${field} must not exceed 1 MiB of JSON.`);
  return text;
}

const readConfig = (stored: EditedAgent, sent: JsonObject | null): JsonObject =>
  sent === null ? {} : mergeConfig(parseJson(stored.config) as JsonObject, sent);

async function differs(
  tx: Tx,
  stored: EditedAgent,
  values: Pick<EditedAgent, 'name' | 'prompt' | 'infos' | 'config'>,
): Promise<boolean> {
  if (stored.name !== values.name || stored.prompt !== values.prompt) return true;
  const { infosEqual, configEqual } = await compareJson(tx, {
    infos: stored.infos,
    newInfos: values.infos,
    config: stored.config,
    newConfig: values.config,
  });
  return !infosEqual || !configEqual;
}

function toAgent({ id, slug, name, prompt, infos, config, createdAt, updatedAt }: EditedAgent) {
  const settings = { infos: parseJson(infos), config: maskSecrets(parseJson(config)) };
  return { id, slug, name, prompt, ...settings, created_at: createdAt, updated_at: updatedAt };
}

const toBody = (agent: EditedAgent): string => JSON.stringify({ agent: toAgent(agent) });
/** A reply with the entity tag of the representation that GET returns. */
const tagged = (body: string, representation = body) => withEtag<RawJson>(rawJson(body), entityTag(representation));

/** Returns the slug of a cursor. @throws AppError 400 */
function readSlug(cursor: string): string {
  if (cursor !== '' && !/^[A-Za-z0-9][A-Za-z0-9_-]*$/.test(cursor))
    throw badRequest('cursor must be the `next` of an earlier page.');
  return cursor;
}
