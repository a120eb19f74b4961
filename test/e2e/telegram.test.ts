import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type LlmServer, startLlm, startTelegram, type TelegramServer } from '#libs/product/testing';
import { createOperatorLogin } from '../operator-login.ts';
import { eventually, startTestPlatform, type TestPlatform } from './test-platform.ts';

const token = `777:${randomBytes(12).toString('hex')}`;
const secret = `secret-${randomBytes(12).toString('hex')}`;
const channel = -1_000_000_777;
let llm: LlmServer;
let telegram: TelegramServer;
let platform: TestPlatform;
let operator: string;
let updateId = 1;
beforeAll(async () => {
  llm = await startLlm();
  telegram = await startTelegram();
  const model = { LLM_BASE_URL: llm.baseUrl, LLM_API_KEY: llm.apiKey };
  platform = await startTestPlatform(
    import.meta.url,
    { ...model, TELEGRAM_API_ROOT: telegram.apiRoot, MEMORY_DELAY_MS: '3600000' },
    { services: ['api-gateway', 'agents', 'conversations', 'directory'] },
  );
  const messaging = { bot_token: token, webhook_secret: secret, echo_channel: String(channel) };
  await platform.apply({
    agents: [{ slug: 'guide', name: 'Guide', prompt: 'You are the guide.', config: { messaging } }],
  });
  operator = await createOperatorLogin(platform.sql)();
  llm.answerWith((messages) => `You said: **${messages.at(-1)?.content}**`);
});
afterAll(async () => {
  await platform.stop();
  await telegram.stop();
  await llm.stop();
});

const accepted = { status: 200, json: { ok: true } };
const compose = (chatId: number, more: object = {}) => ({
  update_id: updateId++,
  message: {
    message_id: updateId,
    date: 1,
    from: { id: chatId, is_bot: false },
    chat: { id: chatId, type: 'private' },
    text: 'hello',
    ...more,
  },
});
const hook = (
  body: string | object,
  { given = secret, slug = 'guide' }: { given?: string | null; slug?: string } = {},
) =>
  platform.call('POST', `/api/hook/agents/${slug}`, {
    token: null,
    body: typeof body === 'string' ? body : JSON.stringify(body),
    headers: {
      'content-type': 'application/json',
      ...(given === null ? {} : { 'x-telegram-bot-api-secret-token': given }),
    },
  });
const list = async (...options: string[]) =>
  (await platform.ask('webhooks', 'list', '--provider', 'telegram', ...options)) as {
    id: number;
    update_id: number | null;
    outcome: string;
    agent_slug: string;
  }[];

describe('POST /api/hook/agents/{slug} (rules/agents#messaging-webhook; D31 to D33d)', () => {
  it('returns 200 before the model replies, then sends the reply and its copy to the echo channel', async () => {
    let release = (): void => undefined;
    const thinking = new Promise<void>((resolve) => (release = resolve));
    llm.answerWith(async (messages) => {
      await thinking;
      return `You said: **${messages.at(-1)?.content}**`;
    });
    expect(await hook(compose(501))).toMatchObject(accepted);
    await eventually(async () => expect(llm.pending).toBe(1));
    expect(telegram.textsOf(501)).toEqual([]);
    release();
    await eventually(async () => expect(telegram.textsOf(501)).toEqual(['You said: hello']));
    await eventually(async () => expect(telegram.textsOf(channel)).toEqual(['Q: hello\n\nA: You said: hello']));
  });

  it('accepts a trailing slash on the webhook URL, and requires only the webhook secret as credential', async () => {
    const update = compose(502);
    const answer = await platform.call('POST', '/api/hook/agents/guide/', {
      token: null,
      json: update,
      headers: { 'x-telegram-bot-api-secret-token': secret },
    });
    expect(answer).toMatchObject(accepted);
    await eventually(async () => expect(telegram.textsOf(502)).toHaveLength(1));
  });

  it.each([
    ['invalid JSON', '{"update_id":'],
    ['nesting without end', `{"update_id":1,"a":${'['.repeat(20_000)}`],
    ['U+0000', '{"update_id":1,"message":{"text":"\\u0000"}}'],
    ['nothing', ''],
    ['a body over the cap', `{"update_id":1,"a":"${'x'.repeat(4_194_304)}"}`],
  ])('returns 200 for a Telegram update with %s', async (_what, body) => {
    expect(await hook(body)).toMatchObject(accepted);
  });

  it('returns 200 for an unknown agent and for a wrong secret, and ignores the update', async () => {
    expect(await hook(compose(503), { slug: 'nobody' })).toMatchObject(accepted);
    expect(await hook(compose(503), { given: 'wrong' })).toMatchObject(accepted);
    expect(await hook(compose(503), { given: null })).toMatchObject(accepted);
    await eventually(async () => expect(await list('--outcome', 'rejected_secret')).toHaveLength(2));
    expect([
      telegram.textsOf(503),
      (await list('--outcome', 'agent_not_found')).map((item) => item.agent_slug),
    ]).toEqual([[], ['nobody']]);
  });

  it('sends updates that are not text of a person unchanged to the echo channel', async () => {
    const update = {
      update_id: updateId++,
      edited_message: { message_id: 1, chat: { id: 504, type: 'private' }, text: 'x' },
    };
    expect(await hook(update)).toMatchObject(accepted);
    await eventually(async () => expect(telegram.textsOf(channel)).toContain(JSON.stringify(update)));
    expect(telegram.textsOf(504)).toEqual([]);
  });

  it('includes a Telegram chat in the output of `agents record`, like threads of visitors', async () => {
    const record: unknown = await platform.ask('agents', 'record', 'guide');
    const { threads } = record as {
      threads: { thread_key: string; messages: { note_type: string; body: string }[] }[];
    };
    const thread = threads.find((item) => item.thread_key.startsWith('telegram:chat:501:agent:'));
    expect(thread?.messages.map(({ note_type, body }) => [note_type, body])).toEqual([
      ['chat_visitor', 'hello'],
      ['chat_agent', 'You said: **hello**'],
    ]);
  });
});

describe('webhooks list, show, replay and agents set-webhook (rules/cli#admin-cli; D20, D33b)', () => {
  it('lists a send with unknown outcome for review, and replays it', async () => {
    telegram.fail(505, { kind: 'broken', status: 502, delivered: false });
    const update = compose(505);
    await hook(update);
    await eventually(async () =>
      expect((await list('--outcome', 'send_unknown')).map((item) => item.update_id)).toEqual([update.update_id]),
    );
    const listed = await platform.cli(
      'webhooks',
      'list',
      '--provider',
      'telegram',
      '--outcome',
      'send_unknown',
      '--json',
    );
    expect([listed.stderr, listed.code]).toEqual(['', 0]);
    const [receipt] = JSON.parse(listed.stdout) as { id: number }[];
    const id = String(receipt?.id);
    const shown = await platform.cli('webhooks', 'show', id);
    expect(shown.stdout).toMatch(/PART {2}STATUS {3}CHAT {2}MESSAGE {2}ERROR\n +1 {2}unknown +505 +– +502: /);
    expect(shown.stdout).toContain(JSON.stringify(update));
    const replay = (...options: string[]): Promise<unknown> =>
      platform.ask('webhooks', 'replay', '--provider', 'telegram', '--outcome', 'send_unknown', ...options);
    const counts = { matched: 1, replayed: 1, without_body: 0, nothing_left: 0, no_agent: 0, more: false };
    expect(await replay('--since', '1h', '--dry-run')).toEqual({ ...counts, dry_run: true });
    expect(await replay('--until', '1h')).toMatchObject({ matched: 0, replayed: 0 });
    expect(await replay()).toEqual({ ...counts, dry_run: false });
    await eventually(async () => expect(telegram.textsOf(505)).toEqual(['You said: hello']));
    await eventually(async () =>
      expect(await platform.ask('webhooks', 'show', id)).toMatchObject({ outcome: 'answered' }),
    );
    expect((await platform.cli('webhooks', 'replay', id)).stdout).toContain('nothing to process');
    const unnamed = await platform.cli('webhooks', 'replay');
    expect([unnamed.code, unnamed.stderr]).toEqual([
      2,
      'Specify a receipt id or a filter: --provider, --outcome, --since, --until, --q, --person.\n',
    ]);
  });

  it('registers the webhook and prints its state at Telegram', async () => {
    const set = await platform.cli('agents', 'set-webhook', 'guide', '--url', 'https://chat.example.org');
    expect([set.code, set.stdout]).toEqual([
      0,
      expect.stringContaining('https://chat.example.org/api/hook/agents/guide'),
    ]);
    expect(telegram.callsOf('setWebhook').at(-1)?.body['secret_token']).toBe(secret);
    expect((await platform.cli('agents', 'webhook-info', 'guide')).stdout).toMatch(/^bot: +@example_bot$/m);
    const path = '/api/ops/agents/guide/webhook';
    const json = { base_url: 'https://chat.example.org' };
    expect((await platform.call('POST', path, { token: operator, json })).json).toMatchObject({ has_secret: true });
    expect((await platform.call('GET', path, { token: operator })).json).toMatchObject({ username: 'example_bot' });
    expect((await platform.cli('agents', 'set-webhook', 'nobody', '--url', 'https://chat.example.org')).code).not.toBe(
      0,
    );
  });

  it('writes neither token nor secret into receipts, jobs or logs', async () => {
    for (const word of [token, secret]) {
      expect((await platform.findInDatabase(word)).filter((table) => table !== 'agents.agents')).toEqual([]);
      expect(await platform.readLogs()).not.toContain(word);
    }
  });
});
