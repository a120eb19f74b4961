/** The plans of the operations of editors on many agents with long histories (rules/memberships#lists; W6, W10). */
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import pg from 'pg';
import type { Actor, Rpc } from '#libs/infrastructure/contract';
import { newContext } from '#libs/infrastructure/nats';
import { plannerOptions } from '#libs/infrastructure/orm';
import { agents } from '#services/agents';
import { v1Routes } from '../../../services/api-gateway/routes/v1/index.ts';
import { type AgentFixture, startAgentFixture } from './fixture.ts';

const { rpcs } = agents;
const superuser: Actor = {
  kind: 'user',
  accountId: 1,
  personId: null,
  superuser: true,
  globalEditor: false,
  coherenceAccess: false,
};

let fixture: AgentFixture;
let client: pg.Client;
beforeAll(async () => {
  fixture = await startAgentFixture(import.meta.url);
  client = new pg.Client({
    connectionString: fixture.env.settings['DATABASE_URL'] ?? '',
    options: `${plannerOptions} -c search_path=agents,public`,
  });
  await client.connect();
  for (const sql of [
    `insert into agents.agents (slug, name) select 'agent-' || n, 'Agent ' || n from generate_series(1, 300) as n`,
    `insert into agents.history (object_kind, object_id, via, action, changes)
      select 'agents', 1 + n % 300, 'api', 'update', '{"name": {"old": "a", "new": "b"}}' from generate_series(1, 30000) as n`,
    'analyze agents.agents',
    'analyze agents.history',
  ])
    await client.query(sql);
});
afterAll(async () => {
  await client.end();
  await fixture.stop();
});

const cases: readonly (readonly [name: string, rpc: Rpc, requests: readonly object[]])[] = [
  ['listWorkspaceAgents', rpcs.listWorkspaceAgents, [{}, { limit: 200 }, { q: 'agent 7' }, { cursor: 'agent-20' }]],
  ['getWorkspaceAgent', rpcs.getWorkspaceAgent, [{ slug: 'agent-7' }]],
  ['createAgent', rpcs.createAgent, [{ slug: 'new', name: 'New' }]],
  ['updateAgent', rpcs.updateAgent, [{ slug: 'agent-7', name: 'Other' }]],
  ['listAgentHistory', rpcs.listAgentHistory, [{ id: 'agent-7' }, { id: 'agent-7', limit: 200, cursor: '9000' }]],
  ['deleteAgent', rpcs.deleteAgent, [{ slug: 'agent-8' }]],
];

/** Returns the statements with a plan that the agents service sends during `work`. */
async function listSent(work: () => Promise<unknown>): Promise<{ text: string; values: unknown[] }[]> {
  const query = jest.spyOn(pg.Client.prototype, 'query');
  try {
    await work();
    const given = query.mock.calls as unknown as [string | { text?: string; values?: unknown[] }, unknown[]?][];
    return given
      .map(([config, values = []]) =>
        typeof config === 'string'
          ? { text: config, values }
          : { text: config.text ?? '', values: config.values ?? values },
      )
      .filter(
        ({ text }) =>
          /agents\.agents|\bhistory\b/.test(text) && /^\s*(?:select|insert|update|delete|with)\b/i.test(text),
      );
  } finally {
    query.mockRestore();
  }
}

describe('the plans of operations on agents', () => {
  it('covers every operation of the route table that belongs to the agents service', () => {
    const routes = v1Routes.filter(({ rpc }) => rpc?.subject.startsWith('agents.') === true);
    expect(new Set(routes.map(({ rpc }) => rpc?.subject))).toEqual(new Set(cases.map(([, rpc]) => rpc.subject)));
  });

  it.each(cases)('%s does not scan the whole history', async (_, rpc, requests) => {
    for (const request of requests) {
      const context = { ...newContext(), actor: superuser };
      const sent = await listSent(() => fixture.bus.call(rpc, request as never, context).catch(() => undefined));
      expect([request, sent.length]).not.toEqual([request, 0]);
      for (const { text, values } of sent) {
        const { rows } = await client.query(`explain ${text}`, values);
        expect([text, JSON.stringify(rows)]).toEqual([
          text,
          expect.not.stringMatching(/Seq Scan on (?:agents\.)?history/),
        ]);
      }
    }
  });
});
