// What `helm test` does: asks the gateway as a client would, says each step, fails at the first that does not hold.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';

const { BASE_URL, SECRETS_DIR = '' } = process.env;
/** A secret setting: a file of its name, or a variable. */
function read(name) {
  const file = `${SECRETS_DIR}/${name}`;
  return SECRETS_DIR !== '' && existsSync(file) ? readFileSync(file, 'utf8').trim() : process.env[name];
}
const [TEST_EMAIL, TEST_PASSWORD] = ['TEST_EMAIL', 'TEST_PASSWORD'].map(read);
// Of several values each is accepted.
const [API_TOKEN, API_LOGIN_SECRET] = ['API_TOKEN', 'API_LOGIN_SECRET'].map((name) => read(name)?.trim().split(/\s+/)[0]);

async function ask(method, path, { headers = {}, body } = {}) {
  const response = await fetch(BASE_URL + path, {
    method,
    headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(20_000),
  });
  const text = await response.text();
  return { status: response.status, text, json: () => JSON.parse(text) };
}

async function step(name, work) {
  const result = await work();
  console.log(`ok  ${name}`);
  return result;
}

await step('the API describes itself', async () => {
  const { status, json } = await ask('GET', '/api/openapi.json');
  assert.equal(status, 200);
  assert.match(json().openapi, /^3\.1\./);
});
await step('a request without a token is refused', async () => {
  assert.equal((await ask('GET', '/api/coherence/conversations/1')).status, 401);
});
await step('the shared token reaches the conversations service and its database', async () => {
  const { status } = await ask('GET', '/api/coherence/conversations/2147483647', { headers: { authorization: `Bearer ${API_TOKEN}` } });
  assert.equal(status, 404);
});
await step('the shared token reaches the agents service', async () => {
  const { status } = await ask('GET', '/api/agents/no-such-agent-of-the-test/', { headers: { authorization: `Bearer ${API_TOKEN}` } });
  assert.equal(status, 404);
});
await step('a wrong password is refused by the directory', async () => {
  const { status } = await ask('POST', '/api/v1/auth/login', {
    headers: { 'x-svc-api-key': API_LOGIN_SECRET },
    body: { email: 'nobody@test.invalid', password: 'wrong' },
  });
  assert.ok([401, 429].includes(status), `status ${status}`);
});

if (TEST_EMAIL === undefined) {
  console.log('Without tests.existingSecret no login is tried.');
} else {
  const token = await step('an account logs in', async () => {
    const { status, json } = await ask('POST', '/api/v1/auth/login', {
      headers: { 'x-svc-api-key': API_LOGIN_SECRET },
      body: { email: TEST_EMAIL, password: TEST_PASSWORD },
    });
    assert.equal(status, 200);
    return json().token;
  });
  const headers = { authorization: `Bearer ${token}` };
  const me = await step('the token is that of a person', async () => {
    const { status, json } = await ask('GET', '/api/v1/auth/whoami', { headers });
    assert.equal(status, 200);
    return json().person;
  });
  const found = await step('the person\'s conversations are found', async () => {
    const { status, json } = await ask('GET', `/api/coherence/conversations/search?person_id=${me.id}`, { headers });
    assert.equal(status, 200);
    return json();
  });
  if (found.length === 0) console.log('There is no conversation of this person to read.');
  else {
    await step('a conversation is read', async () => {
      const { status, json } = await ask('GET', `/api/coherence/conversations/${found[0].id}`, { headers });
      assert.equal(status, 200);
      assert.equal(json().id, found[0].id);
    });
  }
  await step('the token is revoked', async () => {
    assert.equal((await ask('POST', '/api/v1/auth/logout', { headers })).status, 200);
    assert.equal((await ask('GET', '/api/v1/auth/whoami', { headers })).status, 401);
  });
}
