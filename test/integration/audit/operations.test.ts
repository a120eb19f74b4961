/**
 * Calls every operation that declares an action once: it writes one entry with actor, action and target (A1;
 * rules/audit#what-is-written).
 */
import { createHash, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Rpc } from '#libs/infrastructure/contract';
import { newContext } from '#libs/infrastructure/nats';
import { waitFor } from '#libs/product/testing';
import { agents } from '#services/agents';
import { conversations } from '#services/conversations';
import { directory } from '#services/directory';
import { events } from '#services/events';
import { transcripts } from '#services/transcripts';
import { contracts } from '../../../libs/product/servers/service-contracts.ts';
import {
  type Act,
  type AuditFixture,
  endpointTypes,
  ip,
  issuer,
  newest,
  password,
  type Row,
  startAuditFixture,
} from './fixture.ts';
import { createSetupRows } from './setup-rows.ts';

let fixture: AuditFixture;
beforeAll(async () => {
  fixture = await startAuditFixture(import.meta.url);
});
afterAll(() => fixture.env.stop());

const ofCli =
  (row: () => Promise<Omit<Act, 'actor'>>): Row =>
  async () =>
    row();
const ofRoot =
  (row: () => Promise<Omit<Act, 'actor'>>): Row =>
  async () => ({ actor: fixture.root, ...(await row()) });

function jobRows(service: string): Record<string, Row> {
  const act = (state: 'dead' | 'queued') => async () => {
    const id = await fixture.newJob(service, state);
    return { request: { ids: [id] }, target: null }; // a bulk action, even with a single id (D99)
  };
  const retry = async () => ({
    request: { id: await fixture.newJob(service, 'dead'), conversation_id: 7 },
    target: { type: 'conversation', id: 7 },
  });
  return {
    [`${service}.operations.redrive-jobs`]: ofRoot(act('dead')),
    [`${service}.operations.cancel-jobs`]: ofRoot(act('queued')),
    [`${service}.operations.retry-job`]: ofRoot(retry),
  };
}

/** Returns the request of a replay of one new webhook. */
const replayOf = (newOne: () => Promise<number>) => async () => ({
  request: { ids: [await newOne()], limit: 1 },
  target: null,
});

const guide = { type: 'agent', id: 'guide' };
const sentence = async () => ({ request: { slug: 'guide', ids: [await fixture.newSentence()] }, target: guide });
const thread =
  (by: 'root' | undefined, more: object = {}) =>
  async () => {
    const id = await fixture.newThread();
    if (by === 'root') await fixture.call(agents.rpcs.takeThread, { thread_id: id }, fixture.root);
    return { request: { thread_id: id, ...more }, target: { type: 'thread', id } };
  };
const agentRows: Record<string, Row> = {
  'agents.operations.replay-webhooks': ofRoot(replayOf(() => fixture.newUpdate())),
  'agents.operations.set-webhook': ofRoot(async () => ({
    request: { slug: 'guide', base_url: 'https://chat.example.org' },
    target: guide,
  })),
  'agents.operations.approve-sentences': ofRoot(sentence),
  'agents.operations.reject-sentences': ofRoot(sentence),
  'agents.operations.take-thread': ofRoot(thread(undefined)),
  'agents.operations.say-in-thread': ofRoot(thread('root', { body: 'Hello' })),
  'agents.operations.hand-thread-back': ofRoot(thread('root')),
  'admin.agents.workspace.apply': ofCli(async () => ({
    request: { agents: [{ slug: fixture.newName(), name: 'Other', config: {} }], dry_run: false },
    target: null,
  })),
  'agents.operations.forget': ofRoot(async () => {
    await fixture.newThread();
    return { request: { slug: 'guide', all: true }, target: guide };
  }),
};

const ofConversation =
  <More extends object>(more: More) =>
  async () => {
    const id = await fixture.newConversation();
    return { request: { conversation_id: id, ...more }, target: { type: 'conversation', id } };
  };
const conversationRows: Record<string, Row> = {
  'conversations.operations.replay-webhooks': ofRoot(replayOf(() => fixture.newReceipt())),
  'conversations.editing.update': ofRoot(ofConversation({ start: '2026-01-01T10:00:00Z' })),
  'conversations.editing.delete': ofRoot(ofConversation({})),
  'conversations.editing.restore': ofRoot(async () => {
    const act = await ofConversation({})();
    await fixture.call(conversations.rpcs.deleteConversation, act.request, fixture.root);
    return act;
  }),
  'admin.conversations.import.apply': ofCli(async () => ({
    request: { items: [{ key: fixture.newName() }], dry_run: false },
    target: null,
  })),
  'conversations.operations.import-transcript': ofRoot(ofConversation({})),
  'conversations.operations.reconcile-bookings': ofRoot(async () => ({ request: { dry_run: false }, target: null })),
};

const ofAccount = (requestOf: (email: string) => object) => async () => {
  const { email, id } = await fixture.newAccount();
  return { request: requestOf(email), target: { type: 'account', id } };
};
const ofKey =
  (more: object = {}) =>
  async () => {
    const id = await fixture.newKey();
    return { request: { key_id: id, ...more }, target: { type: 'key', id } };
  };
const ofLogin = (requestOf: (sessionKey: string) => object) => async () => {
  const { email, id } = await fixture.newAccount();
  const { actor, sessionKey } = await fixture.logIn(email);
  return { request: requestOf(sessionKey), target: { type: 'account', id }, actor };
};
const merged = (requestOf: (keep: number, gone: number) => object) => async () => {
  const [keep, gone] = [await fixture.newPerson(), await fixture.newPerson()];
  return { request: requestOf(keep, gone), target: { type: 'person', id: gone } };
};
const newToken = () => ({ seed: 'seed', token_sha256: createHash('sha256').update(randomUUID()).digest('base64url') });
const ofAccountId =
  <More extends object>(more: () => More) =>
  async () => {
    const { id } = await fixture.newAccount();
    return { request: { account_id: id, ...more() }, target: { type: 'account', id } };
  };
/** Waits until the erasure of the person has ended. */
const erased = (personId: number) =>
  waitFor(async () => {
    const query = `select count(*)::integer as id from directory.person_erasures where person_id = $1 and state = 'done'`;
    return (await fixture.one(query, [personId])) > 0;
  });
const directoryRows: Record<string, Row> = {
  'admin.directory.accounts.create': ofCli(async () => ({
    request: { email: `${fixture.newName()}@example.org` },
    target: newest('account'),
  })),
  'admin.directory.accounts.set-password': ofCli(ofAccount((email) => ({ email, password: 'eight green parrots' }))),
  'directory.accounts.invite': ofRoot(async () => ({
    request: { email: `${fixture.newName()}@example.org`, ...newToken() },
    target: newest('account'),
  })),
  'directory.accounts.update': ofRoot(ofAccountId(() => ({ global_editor: true }))),
  'directory.accounts.delete': ofRoot(ofAccountId(() => ({}))),
  'directory.accounts.reset-password': ofRoot(ofAccountId(newToken)),
  'directory.accounts.accept-invitation': async () => {
    const [email, token] = [`${fixture.newName()}@example.org`, newToken()];
    const { account } = await fixture.call(directory.rpcs.inviteAccount, { email, ...token }, fixture.root);
    return {
      request: { token_sha256: token.token_sha256, password: 'eight green parrots', ip },
      target: { type: 'account', id: account.id },
      accountId: account.id,
    };
  },
  'directory.identities.verify': async () => {
    const { email, id } = await fixture.newAccount();
    return { request: { issuer, subject: email, email }, target: { type: 'account', id }, accountId: id };
  },
  'directory.identities.sign-in': async () => {
    const { email, id } = await fixture.newAccount();
    await fixture.call(directory.rpcs.linkIdentity, { account_id: id, subject: email }, fixture.root);
    return { request: { issuer, subject: email, ip }, target: { type: 'account', id }, accountId: id };
  },
  'directory.identities.link': ofRoot(ofAccountId(() => ({ subject: randomUUID() }))),
  'directory.identities.unlink': ofRoot(async () => {
    const { request, target } = await ofAccountId(() => ({ subject: randomUUID() }))();
    await fixture.call(directory.rpcs.linkIdentity, request, fixture.root);
    return { request, target };
  }),
  'directory.keys.create': ofRoot(async () => ({
    request: { name: 'k', scopes: ['*'], account_id: fixture.root.accountId },
    target: newest('key'),
  })),
  'directory.keys.rotate': ofRoot(ofKey({ overlap_seconds: 0 })),
  'directory.keys.revoke': ofRoot(ofKey()),
  'directory.people.merge': ofRoot(merged((keep, gone) => ({ person_id: gone, into: keep }))),
  'directory.accounts.change-password': ofLogin(() => ({ current: password, new: 'eight green parrots', ip })),
  'directory.sessions.revoke': ofLogin((key) => ({ session_id: key })),
  'directory.sessions.logout': ofLogin(() => ({})),
  'directory.sessions.login': async () => {
    const { email, id } = await fixture.newAccount();
    return { request: { email, password, ip }, target: { type: 'account', id }, accountId: id };
  },
  'directory.sessions.refuse-login': async () => ({ request: { ip }, target: null, accountId: null, isRefused: true }),
  'directory.people.erase': ofRoot(async () => {
    const name = fixture.newName();
    const id = await fixture.newPerson(name);
    return { request: { person_id: id, confirm: name }, target: { type: 'person', id }, ended: () => erased(id) };
  }),
  'admin.directory.people.repeat-erasure': ofCli(async () => {
    const id = await fixture.newPerson();
    const [digest] = await fixture.env.sql<{ digest: string }>(
      `select encode(sha256(convert_to('person:' || id || ':' || directory.iso_utc(created_at), 'UTF8')), 'hex') as digest
       from directory.people where id = $1`,
      [id],
    );
    return {
      request: { person_id: id, ...digest, visitor_ids: [], telegram_user_ids: [] },
      target: { type: 'person', id },
      ended: () => erased(id),
    };
  }),
  'directory.steps.patch-config': ofRoot(async () => ({
    request: { journey_slug: 'circle', step_slug: 'done', write: { config: { advance_on_success: true } } },
    target: { type: 'step', id: fixture.ids['steps']?.['circle/done'] ?? 0 },
  })),
  'admin.directory.workspace.apply': ofCli(async () => ({
    request: { document: { people: [{ key: fixture.newName(), name: 'New' }] }, dry_run: false },
    target: null,
  })),
};

const ofEndpoint =
  (more: object = {}) =>
  async () => {
    const id = await fixture.newEndpoint();
    return { request: { endpoint_id: id, ...more }, target: { type: 'webhook_endpoint', id } };
  };
const since = new Date(Date.now() - 3_600_000).toISOString();
const eventRows: Record<string, Row> = {
  'events.operations.prune': ofRoot(async () => ({ request: { before: '2020-01-01T00:00:00Z' }, target: null })),
  'events.endpoints.create': ofRoot(async () => ({
    request: { url: 'http://localhost:9/hook', types: endpointTypes },
    target: newest('webhook_endpoint'),
  })),
  'events.endpoints.update': ofRoot(ofEndpoint({ description: 'Another' })),
  'events.endpoints.delete': ofRoot(ofEndpoint()),
  'events.endpoints.rotate-secret': ofRoot(ofEndpoint({ overlap_seconds: 0 })),
  'events.deliveries.redeliver': ofRoot(async () => {
    const endpointId = await fixture.newEndpoint();
    const { delivery } = await fixture.call(events.rpcs.testEndpoint, { endpoint_id: endpointId }, fixture.root);
    return {
      request: { endpoint_id: endpointId, delivery_id: delivery.id },
      target: { type: 'webhook_delivery', id: delivery.id },
    };
  }),
  'events.deliveries.test': ofRoot(ofEndpoint()),
  'events.deliveries.recover': ofRoot(ofEndpoint({ since })),
};

const mediaRows: Record<string, Row> = {
  'admin.media.recordings.set-finalized': ofCli(async () => {
    const { conversationId } = await fixture.newBlob('recording_front_trimmed');
    return { request: { items: [{ conversation_id: conversationId, finalized: true }] }, target: null };
  }),
  'admin.media.tickets.issue-upload': ofCli(async () => ({
    request: { conversation_id: 7, kind: 'audio' },
    target: { type: 'conversation', id: 7 },
  })),
};
const transcriptRows: Record<string, Row> = {
  'admin.transcripts.rows.install-legacy': ofCli(async () => ({ request: await fixture.rowsOf(null), target: null })),
};

/** Erasures that the directory requests from the other services for the caller `by`. */
const erasures: Record<string, () => Promise<Pick<Act, 'request' | 'target'>>> = {
  'agents.people.erase': async () => {
    const [row] = await fixture.env.sql<{ visitor: string }>(
      'select visitor_id as visitor from agents.threads where id = $1',
      [await fixture.newThread()],
    );
    return { request: { visitor_ids: [row?.visitor], telegram_user_ids: [] }, target: null };
  },
  'conversations.people.erase': async () => {
    const id = await fixture.newPerson();
    await fixture.newConversation([id]);
    return { request: { person_id: id, emails: [], name: null, after: 0 }, target: { type: 'person', id } };
  },
  'events.people.erase': async () => {
    const { email, id, personId } = await fixture.newAccount();
    const { actor } = await fixture.logIn(email);
    await fixture.call(events.rpcs.createEndpoint, { url: 'http://localhost:9/hook', types: endpointTypes }, actor);
    return { request: { person_id: personId, account_ids: [id] }, target: { type: 'person', id: personId } };
  },
  'media.people.erase': async () => {
    const id = await fixture.newPerson();
    await fixture.newBlob('audio', id);
    return { request: { person_id: id, account_ids: [] }, target: { type: 'person', id } };
  },
  'transcripts.people.erase': async () => {
    const id = await fixture.newPerson();
    await fixture.call(transcripts.rpcs.installLegacy, await fixture.rowsOf(id));
    return { request: { person_id: id, after: 0 }, target: { type: 'person', id } };
  },
};
const erasureFor =
  (subject: string, accountId: number | null): Row =>
  async () => {
    const act = await erasures[subject]?.();
    if (act === undefined) throw new Error(`${subject} has no row here`);
    const by = { account_id: accountId, key_id: null, via: null };
    return { ...act, request: { ...act.request, dry_run: false, by }, accountId };
  };
const erasureRows: Record<string, Row> = Object.fromEntries(
  Object.keys(erasures).map((subject) => [subject, () => erasureFor(subject, fixture.root.accountId)()]),
);

const jobs = Object.assign({}, ...contracts.map(({ service }) => jobRows(service))) as Record<string, Row>;
const table: Record<string, Row> = {
  ...jobs,
  ...agentRows,
  ...conversationRows,
  ...directoryRows,
  ...eventRows,
  ...mediaRows,
  ...transcriptRows,
  ...createSetupRows(() => fixture),
  ...erasureRows,
};
const declared = contracts.flatMap(({ service, rpcs }) =>
  Object.values(rpcs)
    .filter(({ audit }) => audit !== undefined)
    .map((rpc) => ({ service, rpc })),
);

interface Entry {
  readonly action: string;
  readonly kind: string;
  readonly account: number | null;
  readonly type: string | null;
  readonly target: string | null;
  readonly outcome: string;
}

interface Expected {
  readonly rpc: Rpc;
  readonly service: string;
  readonly act: Act;
  /** Whether operators of the admin CLI perform the action. */
  readonly isOperators: boolean;
}

/** Performs the call and expects exactly one new audit entry of the service, and one of the job that it starts. */
async function expectEntry({ rpc, service, act, isOperators }: Expected): Promise<void> {
  const { request, target, actor, accountId = null, isRefused = false, ended } = act;
  const last = await fixture.one(`select coalesce(max(id), 0)::integer as id from ${service}.audit_log`);
  const answer = fixture.bus.call(rpc, request, {
    ...newContext(),
    requestId: randomUUID(),
    ...(actor === undefined ? {} : { actor }),
  });
  const refusal = await answer.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!isRefused) expect(refusal).toBeUndefined();
  await ended?.();
  const entries = await fixture.env.sql<Entry>(
    `select action, actor_kind as kind, account_id as account, target_type as type, target_id as target, outcome from ${service}.audit_log
     where id > $1 order by id`,
    [last],
  );
  const entry = {
    action: rpc.audit,
    kind: isOperators ? 'cli' : 'account',
    account: isOperators ? null : actor?.kind === 'user' ? actor.accountId : accountId,
    type: target?.type ?? null,
    target: target === null ? null : target.id === 'newest' ? expect.stringMatching(/./) : String(target.id),
    outcome: isRefused ? 'refused' : 'ok',
  };
  expect(entries).toEqual(ended === undefined ? [entry] : [entry, entry]);
}

describe('audited operations (A1)', () => {
  it('covers every operation with an audit action in this test', () => {
    expect(Object.keys(table).toSorted()).toEqual(declared.map(({ rpc }) => rpc.subject).toSorted());
  });

  it.each(declared.map(({ rpc, service }) => [rpc.subject, rpc, service] as const))(
    'writes one audit entry for %s',
    async (subject, rpc, service) => {
      const row = table[subject];
      if (row === undefined) throw new Error(`${subject} has no row here`);
      await expectEntry({ rpc, service, act: await row(), isOperators: subject.startsWith('admin.') });
    },
  );

  it.each(
    declared
      .filter(({ rpc }) => rpc.subject in erasures)
      .map(({ rpc, service }) => [rpc.subject, rpc, service] as const),
  )('names the admin CLI in the entry of %s when it started the erasure', async (subject, rpc, service) => {
    await expectEntry({ rpc, service, act: await erasureFor(subject, null)(), isOperators: true });
  });

  it('stores no search text of an operator in the audit log', async () => {
    const logs = contracts.map(
      ({ service }) => `select l::text as text from ${service}.audit_log l where l::text like '%needle%'`,
    );
    expect(await fixture.env.sql(logs.join(' union all '))).toEqual([]);
  });
});
