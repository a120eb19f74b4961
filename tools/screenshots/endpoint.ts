/** A webhook endpoint with deliveries in various states, for the screenshot of its page. */
import { setTimeout as sleep } from 'node:timers/promises';
import { demoValues } from '#libs/infrastructure/config';
import { createClient } from '../../clients/typescript/index.ts';
import { startWebhookReceiver } from '../../libs/product/testing/webhook-receiver.ts';

/**
 * Answers to the test deliveries, in the order in which they are sent. The second delivery is retried after some
 * seconds, the last one later.
 */
const answers = [204, 503, 204, 'drop'] as const;
const secondTryMs = 8_000;
/** Port of the receiver, which WEBHOOK_ALLOWED_HOSTS allows. */
const receiverPort = 3_000;

interface EndpointSetup {
  /** Path of the endpoint's page. */
  readonly path: string;
  end(): Promise<void>;
}

export async function makeEndpoint(baseUrl: string, email: string, password: string): Promise<EndpointSetup> {
  const receiver = await startWebhookReceiver(receiverPort);
  receiver.answer('/hooks', (location) => answers[location - 1] ?? 204);
  const gate = createClient({ baseUrl, token: '', loginKey: demoValues.API_LOGIN_SECRET });
  const { body: session } = await gate.login({ body: { email, password } });
  const client = gate.withToken(session.token);
  const expected = { url: `http://localhost:${receiver.port}/hooks`, description: 'Archive' };
  const { body: made } = await client.createWebhookEndpoint({ body: expected });
  const path = { endpoint_id: made.endpoint.id };
  for (const answer of answers) {
    await client.testWebhookEndpoint({ path });
    await sleep(answer === 503 ? secondTryMs : 1_500);
  }
  return {
    path: `/console/endpoints/${made.endpoint.id}`,
    end: async () => {
      await client.deleteWebhookEndpoint({ path });
      await receiver.stop();
    },
  };
}
