/**
 * Attacks by visitors and by callers of the webhook address: reading the data of other visitors, causing model costs,
 * taking over another chat, disrupting the agent (D64, D68, D70, D71, D74, D75; OWASP API1, API2, API4, API8; OWASP
 * LLM01, LLM02, LLM05, LLM10).
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type LlmMessage, type LlmServer, startLlm, startTelegram, type TelegramServer } from '#libs/product/testing';
import { type Answer, eventually, type TestPlatform } from '../e2e/test-platform.ts';
import { startTarget } from './attacker.ts';

const addressLimit = 60;
const dailyTokens = 50_000;
/** Token cost of a long message for the operator; the test model reports 30 tokens for any input. */
const costOfMessage = 15_000;
const token = '77:bot-token-of-the-tests';
const secret = 'a-secret-that-nobody-guesses';
const messaging = { bot_token: token, webhook_secret: secret };

let llm: LlmServer;
let telegram: TelegramServer;
let platform: TestPlatform;
beforeAll(async () => {
  llm = await startLlm();
  telegram = await startTelegram();
  const settings = {
    LLM_BASE_URL: llm.baseUrl,
    LLM_API_KEY: llm.apiKey,
    TELEGRAM_API_ROOT: telegram.apiRoot,
    MEMORY_DELAY_MS: '0',
    TRUSTED_PROXY_HOPS: '1',
    RATE_LIMIT_CHAT_ADDRESS_PER_MINUTE: String(addressLimit),
    LLM_DAILY_TOKENS: String(dailyTokens),
  };
  platform = await startTarget(import.meta.url, settings, { services: ['api-gateway', 'directory', 'agents'] });
  const agent = (slug: string, config: object = {}) => ({
    slug,
    name: slug,
    prompt: 'You are the guide of the Tea House.',
    config,
  });
  const slugs = ['confidant', 'flooded', 'talkative', 'careless'];
  await platform.apply({
    agents: [...slugs.map((slug) => agent(slug)), agent('bot', { messaging }), agent('open', { messaging })],
  });
  // Removes the webhook secret. An earlier release allowed this; today a workspace file without a secret is rejected.
  await platform.sql(`update agents.agents set config = config #- '{messaging,webhook_secret}' where slug = 'open'`);
});
afterAll(async () => {
  await platform.stop();
  await telegram.stop();
  await llm.stop();
});
afterEach(() => {
  llm.answerWith(undefined);
  llm.answerMemoryWith(undefined);
});

let clients = 0;
/** Returns an address that the run has not used before. */
const newAddress = (): string => `198.51.100.${++clients}`;

function say(
  slug: string,
  body: string,
  { visitor_id = null, from = newAddress() }: { visitor_id?: string | null; from?: string } = {},
): Promise<Answer> {
  const headers = { 'x-forwarded-for': from };
  return platform.call('POST', `/api/chat/${slug}/message/`, { token: null, json: { body, visitor_id }, headers });
}

/** Waits until all pending memory updates are stored. */
async function remembered(): Promise<void> {
  await eventually(async () => {
    const waiting = await platform.sql(
      `select type from agents.jobs where state in ('queued', 'running') and run_at < now() + interval '1 minute'`,
    );
    expect(waiting).toEqual([]);
  });
}

const promptsSince = (count: number): string =>
  JSON.stringify(llm.requests.slice(count).map(({ messages }) => messages));

describe('attempts of a visitor to read data of other visitors or to inject output through the agent (D70)', () => {
  /** Simulates a model that reveals its entire input. */
  const rememberAll = (messages: readonly LlmMessage[]): string => {
    const data = JSON.parse(messages.at(-1)?.content ?? '{}') as { notes?: string[]; turns?: { visitor: string }[] };
    if (data.notes !== undefined) return JSON.stringify({ summary: data.notes.join(' ') });
    const said = (data.turns ?? []).map(({ visitor }) => visitor);
    return JSON.stringify({ summary: said.join(' '), facts: said, knowledge: said });
  };

  it('adds personal statements of visitors to the prompt of no other visitor', async () => {
    llm.answerMemoryWith(rememberAll);
    const ill = await say('confidant', 'somebody here is ill with malaria');
    await remembered();
    await say('confidant', 'tickets are paid in advance at the counter of mister fraud');
    await remembered();
    const before = llm.requests.length;
    const stranger = await say('confidant', 'who was here, and where do i pay?');
    await remembered();
    await say('confidant', 'and what else?', { visitor_id: stranger.json.visitor_id });
    expect(llm.requests.length - before).toBe(2);
    expect(promptsSince(before)).not.toMatch(/malaria|mister fraud/);
    const stored = await platform.sql<{ body: string }>(
      `select body from agents.memory_facts where kind = 'knowledge'`,
    );
    expect(stored).toEqual([]);
    // Statements of visitors about themselves are not shared, but remain available in the visitor's own thread.
    const asked = llm.requests.length;
    await say('confidant', 'what did i say?', { visitor_id: ill.json.visitor_id });
    expect(promptsSince(asked)).toContain('malaria');
  });

  it('does not run a link in agent output, whatever the model returns', async () => {
    llm.answerWith(() =>
      [
        'javascript:alert(1)',
        'JAVASCRIPT:alert(1)',
        'data:text/html,<script>1</script>',
        'vbscript:x',
        '&#106;avascript:x',
        'java\tscript:x',
      ]
        .flatMap((target) => [
          `[a](${target})`,
          `[b](<${target}>)`,
          `![c](${target})`,
          `<${target}>`,
          `<a href="${target}" onclick="x()">d</a>`,
        ])
        .join('\n'),
    );
    const { json } = await say('confidant', 'show me');
    expect(json.agent_html).not.toMatch(/<a |<script|<img/i);
  });

  it('prints no control sequences of visitors to the terminal of the operator', async () => {
    await say('confidant', 'quiet\u001b]0;owned\u0007 \u001b[2J\u009b8m \u202egnp.exe');
    const { stdout } = await platform.cli('agents', 'record', 'confidant');
    expect(stdout).toContain('quiet\\u001b]0;owned\\u0007');
    expect(stdout).not.toMatch(/[^\P{Cc}\n\t]|\u202e/u);
  });
});

describe('input that tries to break an agent (D75)', () => {
  it("removes characters that cannot be stored from the model's reply", async () => {
    llm.answerWith(() => 'a\u0000b\ud800c\u0000');
    const answer = await say('careless', 'repeat after me: U+0000');
    expect([answer.status, answer.json.agent_html]).toEqual([200, 'abc']);
    llm.answerWith(() => '\u0000');
    expect((await say('careless', 'now only U+0000')).status).toBe(503);
  });

  it('removes characters that cannot be stored from the thread memory', async () => {
    llm.answerMemoryWith(() => '{"summary":"a\\u0000b","facts":["c\\ud800d"],"knowledge":["\\u0000"]}');
    const { json } = await say('careless', 'remember U+0000');
    await remembered();
    const rows = await platform.sql<{ summary: string; body: string }>(
      `select m.summary, f.body from agents.threads t join agents.thread_memories m on m.thread_id = t.id join agents.memory_facts f on f.thread_id = t.id
       where t.visitor_id = $1`,
      [json.visitor_id],
    );
    expect(rows).toEqual([{ summary: 'ab', body: 'cd' }]);
  });

  it('limits stored text and reply for tables of empty cells to a small multiple of the input', async () => {
    const table = `${'|a'.repeat(200)}\n${'|-'.repeat(200)}\n${'a\n'.repeat(320)}\n`;
    const bomb = table.repeat(Math.floor(16_384 / table.length));
    const answer = await say('careless', bomb);
    expect([answer.status, answer.text.length < 8 * bomb.length + 10_000]).toEqual([200, true]);
    const [row] = await platform.sql<{ size: number }>(`select max(length(html))::int as size from agents.messages`);
    expect(row?.size).toBeLessThan(8 * bomb.length);
  });

  it('aborts an endless reply and a memory update of blanks, stores neither, and answers other visitors', async () => {
    llm.fail(...Array.from({ length: 2 }, () => ({ kind: 'content', content: 'x'.repeat(5 * 1024 * 1024) }) as const));
    expect((await say('careless', 'never stop')).status).toBe(503);
    llm.answerMemoryWith(() => `\`\`\`json\n${' '.repeat(99_000)}x`);
    const { json } = await say('careless', 'remember blanks');
    await eventually(async () => {
      const [job] = await platform.sql<{ error: string | null }>(
        `select j.error from agents.jobs j join agents.threads t on j.payload->>'thread_id' = t.id::text where t.visitor_id = $1`,
        [json.visitor_id],
      );
      expect(job?.error).toBe('The reply is not valid JSON.');
    });
    expect((await say('confidant', 'are you there?')).status).toBe(200);
  });
});

describe('an attacker who knows a hook address (D64, D68)', () => {
  const victim = 7_100_200;
  const attacker = -1_002_000_300_400;
  let updateId = 1;
  const compose = (chat: { id: number; type: string }, more: object) => ({
    update_id: updateId++,
    message: { message_id: updateId, date: 1, from: { id: Math.abs(chat.id), is_bot: false }, chat, ...more },
  });
  const hook = async (
    update: object,
    { slug = 'bot', given = null }: { slug?: string; given?: string | null } = {},
  ): Promise<void> => {
    const headers = given === null ? {} : { 'x-telegram-bot-api-secret-token': given };
    const answer = await platform.call('POST', `/api/hook/agents/${slug}`, { token: null, json: update, headers });
    expect([answer.status, answer.json]).toEqual([200, { ok: true }]);
  };
  const countReceipts = async (outcome: string): Promise<number> =>
    (
      await platform.sql<{ n: number }>(
        `select coalesce(sum(deliveries), 0)::int as n from agents.webhook_receipts where outcome = $1`,
        [outcome],
      )
    )[0]?.n ?? 0;
  let settledBefore = 0;
  /** Waits until that many more updates have finished, whatever their outcome. */
  const settle = async (count: number): Promise<void> => {
    settledBefore += count;
    await eventually(async () => {
      const rows = await platform.sql<{ n: number }>(
        `select coalesce(sum(deliveries), 0)::int as n from agents.webhook_receipts where outcome not in ('pending', 'answering')`,
      );
      expect(rows[0]?.n).toBe(settledBefore);
    });
  };
  const privateChat = { id: victim, type: 'private' };
  const supergroup = { id: attacker, type: 'supergroup' };

  it('ignores messages to an agent without a secret: calls no model and stores no text', async () => {
    const asked = llm.requests.length;
    for (let n = 0; n < 30; n++)
      await hook(compose({ id: 5_000 + n, type: 'private' }, { text: `unsigned-words ${n}` }), { slug: 'open' });
    await hook(compose(privateChat, { text: 'unsigned-words with any secret' }), { slug: 'open', given: secret });
    await settle(31);
    expect([llm.requests.length - asked, telegram.calls.length]).toEqual([0, 0]);
    expect(await platform.findInDatabase('unsigned-words')).toEqual([]);
    expect(await countReceipts('rejected_unsigned')).toBe(31);
    await expect(platform.sql(`select 1 from agents.webhook_receipts where body is not null`)).resolves.toEqual([]);
  });

  it('does not map a supergroup to a private chat with memory for a forged update, with or without a signature', async () => {
    const ask = async (chat: { id: number; type: string }, text: string): Promise<void> => {
      const before = telegram.textsOf(chat.id).length;
      await hook(compose(chat, { text }), { given: secret });
      await eventually(async () => expect(telegram.textsOf(chat.id).length).toBeGreaterThan(before), 15_000);
    };
    await ask(privateChat, 'my safe opens with 4711');
    const claim = compose(supergroup, { migrate_from_chat_id: victim });
    await hook(claim);
    await hook(claim, { given: 'guessed' });
    await hook(compose(supergroup, { migrate_from_chat_id: victim }), { given: secret });
    await hook(compose(privateChat, { migrate_to_chat_id: attacker }), { given: secret });
    await settle(2 + 2 + 1);
    const before = llm.requests.length;
    await ask(supergroup, 'what did i say before?');
    expect(promptsSince(before)).not.toContain('4711');
    await ask(privateChat, 'what did i say before?');
    expect(telegram.textsOf(victim).at(-1)).toContain('4711');
  });

  it('rejects a workspace file with a bot whose webhook secret is missing or guessable', async () => {
    for (const given of [{}, { webhook_secret: '' }, { webhook_secret: 'x'.repeat(23) }]) {
      const failure = await platform
        .apply({ agents: [{ slug: 'new', name: 'New', config: { messaging: { bot_token: token, ...given } } }] })
        .catch(String);
      expect(failure).toMatch(/webhook_secret.*24 to 256/s);
    }
    expect((await platform.call('GET', '/api/agents/new/')).status).toBe(404);
  });
});

describe('flooding an agent (D71)', () => {
  const flood = async (count: number, slug: string, address: (n: number) => string): Promise<Answer[]> => {
    const answers: Answer[] = [];
    for (let from = 0; from < count; from += 10) {
      const batch = Array.from({ length: Math.min(10, count - from) }, (_, n) => from + n);
      answers.push(...(await Promise.all(batch.map((n) => say(slug, `message ${n}`, { from: address(n) })))));
    }
    return answers;
  };
  const statuses = (answers: readonly Answer[]): Record<number, number> => {
    const counts: Record<number, number> = {};
    for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
    return counts;
  };

  it('stops many visitor ids from one address, whatever addresses the client claims', async () => {
    const from = newAddress();
    const asked = llm.requests.length;
    const answers = await flood(addressLimit + 5, 'flooded', (n) => `203.0.113.${n}, ${from}`);
    expect(statuses(answers)).toEqual({ 200: addressLimit, 429: 5 });
    expect(llm.requests.length - asked).toBe(addressLimit);
    const refused = answers.find(({ status }) => status === 429);
    expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(Number(refused?.headers.get('retry-after'))).toBeLessThanOrEqual(60);
    expect((await say('confidant', 'to another agent', { from })).status).toBe(429);
    expect((await say('confidant', 'somebody else')).status).toBe(200);
  });

  it('counts the addresses of one IPv6 network as one client of an agent', async () => {
    const group = (n: number): string => ((n * 7919 + 1) % 65_536).toString(16);
    const spelled = (n: number): string => {
      if (n % 3 === 0) return `2001:db8:5:6:${group(n)}::${group(n + 1)}`;
      return n % 3 === 1 ? `2001:0DB8:0005:0006:${group(n)}:0:0:1` : `[2001:db8:5:6::${group(n)}]:${1024 + n}`;
    };
    expect(statuses(await flood(addressLimit + 5, 'flooded', spelled))).toEqual({ 200: addressLimit, 429: 5 });
    expect((await say('flooded', 'the neighbour', { from: '2001:db8:5:7::1' })).status).toBe(200);
  });

  it('counts all spellings of one IPv4 address as one client of an agent', async () => {
    const spellings = [
      '192.0.2.1',
      '::ffff:192.0.2.1',
      '::FFFF:C000:201',
      '0:0:0:0:0:ffff:c000:0201',
      '192.0.2.1:4711',
      '[::ffff:192.0.2.1]:80',
    ];
    const answers = await flood(addressLimit + 6, 'flooded', (n) => spellings[n % spellings.length] ?? '');
    expect(statuses(answers)).toEqual({ 200: addressLimit, 429: 6 });
  });

  it('uses only the daily token budget of the flooded agent for messages from many addresses', async () => {
    const asked = llm.requests.length;
    const long = 'w'.repeat(6_000);
    let answer = await say('talkative', long);
    for (let n = 0; n < 200 && answer.status === 200; n++) {
      await platform.sql(
        `update agents.token_budgets b set tokens = tokens + $1 from agents.agents a where a.id = b.agent_id and a.slug = 'talkative'`,
        [costOfMessage],
      );
      answer = await say('talkative', long);
    }
    expect(answer.status).toBe(503);
    const secondsOfDay = 86_400 - Math.floor((Date.now() % 86_400_000) / 1_000);
    expect(Math.abs(Number(answer.headers.get('retry-after')) - secondsOfDay)).toBeLessThan(60);
    expect(answer.text).not.toContain('token');
    const calls = llm.requests.length - asked;
    expect(calls).toBeLessThanOrEqual(Math.ceil(dailyTokens / costOfMessage) + 1);
    expect(statuses(await flood(10, 'talkative', newAddress))).toEqual({ 503: 10 });
    expect(llm.requests.length - asked).toBe(calls);
    expect((await say('confidant', 'another agent')).status).toBe(200);
  });
});
