/** Lists the kinds of requests whose cost is measured. */
import { randomUUID } from 'node:crypto';
import { demoValues } from '#libs/infrastructure/config';
import type { DemoPlatform } from '../bench/demo-platform.ts';
import type { Request } from '../bench/load.ts';

/**
 * Number of conversations that are changed in turn, since writers of one conversation would wait for each other and for
 * the disk.
 */
const changedCount = 37;
const changedFrom = Date.UTC(2033, 0, 1);

const uploadBytes = 1_000_000;
const boundary = 'cost-boundary';

const describePerson = (): string =>
  JSON.stringify({ name: 'Visitor', contact: { email: `visitor-${randomUUID()}@example.org` } });

/** Headers of the callers. */
interface Callers {
  readonly password: string;
  readonly gate: Record<string, string>;
  readonly shared: Record<string, string>;
  readonly user: Record<string, string>;
  /** Headers of an account that can create people. */
  readonly editor: Record<string, string>;
  readonly key: Record<string, string>;
  /** Id of the person to which the user's account belongs. */
  readonly personId: string;
}

/** Returns the requests by name. They use the people, the conversation and the agent of the demo. */
export async function listRequests(
  baseUrl: string,
  settings: DemoPlatform['settings'],
): Promise<Record<string, (index: number) => Request>> {
  const callers = await logAllIn(baseUrl, settings);
  const conversation = await findConversation(baseUrl, callers);
  const changed = await makeConversations(baseUrl, callers);
  return describeRequests(callers, conversation, (index) => changed[index % changed.length] ?? '');
}

const pathOf = ({ id }: { id: number }): string => `/api/coherence/conversations/${id}`;
const logIn = ({ gate, password }: Pick<Callers, 'gate' | 'password'>, email: string): Request & { body: string } => ({
  method: 'POST',
  path: '/api/v1/auth/login',
  headers: gate,
  body: JSON.stringify({ email, password }),
});

async function logAllIn(baseUrl: string, settings: DemoPlatform['settings']): Promise<Callers> {
  const password = settings['DEMO_PASSWORD'] ?? demoValues.DEMO_PASSWORD;
  const gate = { 'x-svc-api-key': settings['API_LOGIN_SECRET'] ?? '', 'content-type': 'application/json' };
  const open = async (email: string): Promise<{ token: string; person: { id: number } }> => {
    const { path, ...request } = logIn({ gate, password }, email);
    return (await fetch(`${baseUrl}${path}`, request)).json() as ReturnType<typeof open>;
  };
  const { token, person } = await open('ada@example.org');
  const user = { authorization: `Bearer ${token}` };
  const made = await fetch(`${baseUrl}/api/v1/keys`, {
    method: 'POST',
    headers: { ...user, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Bench', scopes: ['conversations:read'] }),
  });
  return {
    password,
    gate,
    shared: { authorization: `Bearer ${settings['API_TOKEN']}`, 'content-type': 'application/json' },
    user,
    editor: { authorization: `Bearer ${(await open('editor@example.org')).token}`, 'content-type': 'application/json' },
    key: { authorization: `Bearer ${((await made.json()) as { token: string }).token}` },
    personId: String(person.id),
  };
}

/** Returns the conversation that the demo created, and a query `find` that finds it by person, journey and time. */
async function findConversation(baseUrl: string, { personId, user }: Callers): Promise<{ path: string; find: string }> {
  const answer = await fetch(`${baseUrl}/api/coherence/conversations/search?person_id=${personId}`, { headers: user });
  const [found] = (await answer.json()) as { id: number; start: string }[];
  if (found === undefined) throw new Error('the demo has left no conversation');
  return { path: pathOf(found), find: findPath(personId, found.start) };
}

const findPath = (personId: string, time: string): string =>
  `/api/coherence/conversations?${new URLSearchParams({ person_id: personId, journey: 'open-circle', time }).toString()}`;

/** Creates the conversations that are changed, and returns their paths. */
async function makeConversations(baseUrl: string, { personId, shared }: Callers): Promise<string[]> {
  const paths: string[] = [];
  for (let count = 0; count < changedCount; count += 1) {
    const time = new Date(changedFrom + count * 7_200_000).toISOString();
    const answer = await fetch(`${baseUrl}${findPath(personId, time)}`, { headers: shared });
    const [own] = (await answer.json()) as { id: number }[];
    if (own === undefined) throw new Error(`no conversation was made: ${answer.status}`);
    paths.push(pathOf(own));
  }
  return paths;
}

function describeRequests(
  callers: Callers,
  { path, find }: { path: string; find: string },
  changedAt: (index: number) => string,
): Record<string, (index: number) => Request> {
  const { shared, user, editor, key, personId } = callers;
  const form = { ...user, 'content-type': `multipart/form-data; boundary=${boundary}` };
  const upload = `--${boundary}\r\ncontent-disposition: form-data; name="audio"; filename="talk.mp3"\r\n\r\n${'x'.repeat(uploadBytes)}\r\n--${boundary}--\r\n`;
  const ping = JSON.stringify({ triggerEvent: 'PING', payload: { title: 'Test', description: 'x'.repeat(1_500) } });
  const get = (where: string, headers: Record<string, string>) => (): Request => ({
    method: 'GET',
    path: where,
    headers,
  });
  return {
    'read a conversation': get(path, shared),
    'read a conversation, logged in': get(path, user),
    'read a conversation with a service key': get(path, key),
    'find the active conversation': get(find, shared),
    'change a conversation (PATCH)': (index) => ({
      method: 'PATCH',
      path: changedAt(index),
      headers: shared,
      body: JSON.stringify({ infos: { n: index } }),
    }),
    'change a room': (index) => ({
      method: 'POST',
      path: `${changedAt(index)}/enter-coherence`,
      headers: shared,
      body: JSON.stringify({ phase: 'conversation', version: index }),
    }),
    'create a person': () => ({ method: 'POST', path: '/api/v1/people', headers: editor, body: describePerson() }),
    'read the room': get(`${path}/enter-coherence`, shared),
    'find people by name': get('/api/v1/people?q=ad', user),
    'search everything': get('/api/v1/search?q=spring', user),
    "read an hour's transcript": get(`${path}/transcript`, shared),
    'download audio, each 10 MB': get(`${path}/audio`, shared),
    'upload audio, each 1 MB': (index) => ({
      method: 'POST',
      path: `${changedAt(index)}/audio`,
      headers: form,
      body: upload,
    }),
    'read 100 events': get('/api/v1/events?limit=100', user),
    // Measured before the requests that leave jobs behind, since those jobs would be counted here.
    'log in': () => logIn(callers, 'ada@example.org'),
    'take a webhook': () => ({
      method: 'POST',
      path: `/api/coherence/hook/booking/${personId}`,
      headers: { 'content-type': 'application/json' },
      body: ping,
    }),
    'answer a visitor': () => ({
      method: 'POST',
      path: '/api/chat/guide/message/',
      headers: { 'content-type': 'application/json', 'idempotency-key': randomUUID() },
      body: JSON.stringify({ body: 'What is an open circle?' }),
    }),
  };
}
