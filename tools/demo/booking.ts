/** Scene 1: a guest books an hour, and the platform creates a conversation. */
import { createHmac, randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ConversationOut } from '#services/conversations';
import { createContext } from '../../cli/context.ts';
import type { ListWebhooksReply } from '../../clients/typescript/operations.ts';
import { formatTime, type Narrator } from './narrator.ts';
import { host, invited, journeySlug } from './people.ts';
import { callApi, DemoError, waitUntil, type DemoPlatform } from './platform.ts';
import type { Meeting } from './artifact.ts';

export interface HostSession {
  token: string;
  personId: number;
}

export async function logIn(platform: DemoPlatform, narrator: Narrator): Promise<HostSession> {
  narrator.step(
    'The host logs in',
    'People have accounts; a login gives a token for 24 hours. What is done with it is attributed to that person.',
  );
  const answer = await callApi(platform, 'POST', '/api/v1/auth/login', {
    token: null,
    headers: { 'x-svc-api-key': platform.loginSecret },
    json: { email: host.email, password: platform.password },
  }).catch((error: unknown) => {
    const hint =
      'Is the demo workspace there? `DEMO_PASSWORD=… npm run --silent cli -- workspace apply test/fixtures/demo-workspace.yaml` adds it.';
    throw error instanceof DemoError ? new DemoError(`${error.message}\n${hint}`) : error;
  });
  const { token, expires_at: expiresAt } = answer.json as { token: string; expires_at: string };
  const { person } = (await callApi(platform, 'GET', '/api/v1/auth/whoami', { token })).json as {
    person: { id: number; name: string };
  };
  narrator.result(`${person.name} (person ${person.id}), token ${token.slice(0, 16)}…, valid until ${expiresAt}`);
  return { token, personId: person.id };
}

/** Sends Cal.com's webhook, and returns the conversation that the platform creates. */
export async function book(
  platform: DemoPlatform,
  narrator: Narrator,
  { personId }: HostSession,
  meeting: Meeting,
): Promise<ConversationOut> {
  const uid = randomBytes(12).toString('base64url');
  narrator.step(
    'A booking arrives',
    `Cal.com calls the booking webhook of ${host.name}. The platform stores it durably before it answers, and works it afterwards.`,
  );
  const booking = makeBooking(uid, meeting);
  const headers = sign(platform, JSON.stringify(booking));
  const hook = await callApi(platform, 'POST', `/api/coherence/hook/booking/${personId}`, {
    token: null,
    headers,
    json: booking,
  });
  narrator.result(
    `POST /api/coherence/hook/booking/${personId} (BOOKING_CREATED, ${invited.length} guests) → ${hook.text}`,
  );

  narrator.step(
    'The conversation is there',
    'A client asks for the conversations of this person and journey that are active at a time. The booking has made one, with everyone in it; ' +
      'a guest whom nobody knew has become a person.',
  );
  const receipt = await waitForReceipt(personId, uid);
  const time = formatTime(meeting.windowStartMs);
  const conversation = await waitUntil('the booking to become a conversation', 30_000, () =>
    findBooked(platform, personId, time, uid),
  );
  narrator.result(`conversation ${conversation.id}, "${conversation.journey_name}", step "${conversation.step_title}"`);
  narrator.result(
    `${conversation.start} to ${conversation.finish}, with ${conversation.participants.map((person) => person.name).join(', ')}`,
  );
  if (receipt !== undefined)
    narrator.result(
      `receipt ${receipt.id}: ${receipt.outcome} (\`npm run --silent cli -- webhooks show ${receipt.id}\`)`,
    );
  return conversation;
}

async function findBooked(
  platform: DemoPlatform,
  personId: number,
  time: string,
  uid: string,
): Promise<ConversationOut | undefined> {
  const query = new URLSearchParams({ person_id: String(personId), journey: journeySlug, time });
  const list = (await callApi(platform, 'GET', `/api/coherence/conversations?${query.toString()}`))
    .json as ConversationOut[];
  return list.find(({ config }) => (config as { booking?: { uid?: string } }).booking?.uid === uid);
}

type Receipt = ListWebhooksReply['body']['items'][number];

/**
 * Waits until the webhook is processed, which it reads from the operators' receipts: requesting the conversation
 * earlier would create an unscheduled one. Without a profile of the admin CLI it waits a fixed time.
 */
async function waitForReceipt(personId: number, uid: string): Promise<Receipt | undefined> {
  const context = createContext({ json: false });
  const query = { kind: 'booking', person_id: personId, q: uid, limit: 1 } as const;
  try {
    return await waitUntil('the receipt of the booking', 30_000, async () => {
      const { items } = (await context.http((api) => api.listWebhooks({ query }))).body;
      return items.find(({ outcome }) => outcome !== 'pending');
    });
  } catch (error) {
    if (error instanceof DemoError) throw error;
    await sleep(2_000);
    return undefined;
  } finally {
    await context.close();
  }
}

/** Returns the headers with Cal.com's signature, made with the webhook secret. */
function sign({ bookingSecret }: DemoPlatform, body: string): Record<string, string> {
  return bookingSecret === undefined
    ? {}
    : { 'x-cal-signature-256': createHmac('sha256', bookingSecret).update(body).digest('hex') };
}

function makeBooking(uid: string, meeting: Meeting): unknown {
  const person = ({ name, email }: { name: string; email: string }) => ({
    name,
    email,
    timeZone: 'Europe/Berlin',
    language: { locale: 'en' },
  });
  return {
    triggerEvent: 'BOOKING_CREATED',
    createdAt: new Date().toISOString(),
    payload: {
      uid,
      bookingId: Math.floor(meeting.startedAtMs / 1000),
      type: 'open-circle-60',
      title: `Open circle with ${host.name}`,
      status: 'ACCEPTED',
      startTime: formatTime(meeting.windowStartMs),
      endTime: formatTime(meeting.windowEndMs),
      length: 60,
      organizer: { id: 3, username: 'ada', utcOffset: 120, ...person(host) },
      attendees: invited.map(person),
      responses: {
        name: { label: 'your_name', value: invited[0]?.name },
        email: { label: 'email_address', value: invited[0]?.email },
      },
      location: 'integrations:cloudflare',
      metadata: { videoCallUrl: `https://meet.example.org/${journeySlug}/spring` },
      iCalUID: `${uid}@Cal.com`,
      iCalSequence: 0,
    },
  };
}
