/** An attacker with the NATS account of one compromised service and a bare client. */
import { connect, headers, type NatsConnection } from '@nats-io/transport-node';
import { listNatsUrls } from '../../libs/product/servers/service-accounts.ts';

/** `denied`: the broker rejected the message. `silent`: no response. */
export type Answer = 'denied' | 'silent' | { readonly failed: boolean; readonly body: unknown };

export interface Intruder {
  readonly connection: NatsConnection;
  /** Returns the subject with the prefix of the installation. */
  subject(name: string): string;
  ask(subject: string, body: unknown, actor?: string): Promise<Answer>;
  /** Sends a message without waiting for a reply. Returns true when the broker accepted the message. */
  send(
    subject: string,
    body: unknown,
    given?: { reply?: string; headers?: Readonly<Record<string, string>> },
  ): Promise<boolean>;
}

const answerMs = 10_000;

export async function takeOver(service: string, settings: Readonly<Record<string, string>>): Promise<Intruder> {
  const { TEST_SERVICE_SECRET: secret = '' } = process.env;
  if (secret === '') throw new Error('the servers of this run know no accounts of services');
  const name = service === 'api-gateway' ? 'GATEWAY' : service.toUpperCase();
  const url = new URL(listNatsUrls(settings['NATS_URL'] ?? '', secret)[`NATS_URL_${name}`] ?? '');
  const connection = await connect({
    servers: `${url.hostname}:${url.port}`,
    user: decodeURIComponent(url.username),
    pass: decodeURIComponent(url.password),
    inboxPrefix: `_INBOX.${service}`,
  });
  const prefix = settings['NATS_SUBJECT_PREFIX'] ?? '';
  const denied = new Set<string>();
  void (async () => {
    for await (const status of connection.status()) {
      if (status.type === 'error') denied.add(String((status.error as { subject?: string }).subject));
    }
  })();
  const subject = (bare: string): string =>
    bare.startsWith('_INBOX.') || bare.startsWith('$') ? bare : `${prefix}.${bare}`;

  /**
   * Waits until the broker has reported a rejection, if any. The broker reports it before its reply to the flush; the
   * client emits it in a later turn of the event loop.
   */
  const hear = async (): Promise<void> => {
    await connection.flush();
    await new Promise(setImmediate);
  };

  const ask: Intruder['ask'] = async (bare, body, actor) => {
    const given = headers();
    given.set('Request-Id', 'intruder');
    if (actor !== undefined) given.set('Actor', actor);
    const full = subject(bare);
    denied.delete(full);
    const reply = connection.request(full, JSON.stringify(body), { timeout: answerMs, headers: given });
    const outcome = reply.then(
      (message): Answer => ({ failed: message.headers?.get('Status') === 'error', body: parse(message.string()) }),
      (): Answer => (denied.has(full) ? 'denied' : 'silent'),
    );
    await hear();
    return denied.has(full) ? 'denied' : outcome;
  };

  return {
    connection,
    subject,
    ask,
    send: async (bare, body, { reply, headers: pairs = {} } = {}) => {
      const full = subject(bare);
      denied.delete(full);
      const given = headers();
      for (const [key, value] of Object.entries(pairs)) given.set(key, value);
      connection.publish(full, JSON.stringify(body), { ...(reply === undefined ? {} : { reply }), headers: given });
      await hear();
      return !denied.has(full);
    },
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
