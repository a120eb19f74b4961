import { describe, expect, it } from '@jest/globals';
import { Type } from '#libs/infrastructure/contract';
import {
  ConfigError,
  databaseSettings,
  hostSetting,
  listSecretValues,
  loadConfig,
  logSettings,
  operatorSecret,
  rotatedSecret,
  secret,
} from './index.ts';
import { demoValues, isLoopback, isPublicSecret, minSecretLength, replaceSecrets } from './secrets.ts';

const schema = Type.Object({
  ...logSettings,
  HOST: hostSetting('public HTTP'),
  DATABASE_URL: databaseSettings.DATABASE_URL,
  API_TOKEN: operatorSecret(Type.String()),
  HOOK_SECRET: operatorSecret(Type.String({ default: '' }), { neededUnless: 'ALLOW_UNSIGNED' }),
  ROTATED: rotatedSecret({ description: 'of which several are accepted', default: '', neededUnless: 'ALLOW_UNSIGNED' }),
  ALLOW_UNSIGNED: Type.Boolean({ default: false }),
  PROVIDER_TOKEN: secret(Type.String({ default: '' })),
});
const long = 'x'.repeat(minSecretLength);
const sound = {
  API_TOKEN: long,
  HOOK_SECRET: long,
  ROTATED: long,
  DATABASE_URL: 'postgresql://a:short@db/a',
  PROVIDER_TOKEN: 'short',
};
const production = { NODE_ENV: 'production' };

function problemsOf(env: Record<string, string>): readonly string[] {
  try {
    loadConfig(schema, env);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

describe('secrets of a platform reachable from other machines', () => {
  it.each([
    ['in production', production],
    ['on every address', { HOST: '::' }],
    ['on an address of the machine', { HOST: '192.0.2.7' }],
    ['in production on the loopback address', { ...production, HOST: '127.0.0.1' }],
  ])('rejects secrets that are public or easy to guess: %s', (_where, env) => {
    expect(problemsOf({ ...sound, ...env })).toEqual([]);
    expect(problemsOf({ ...sound, ...env, API_TOKEN: 'demo-api-token' })).toEqual([
      'API_TOKEN is, or holds, a password that anybody knows: make one with: npm run --silent cli -- secrets generate',
    ]);
    expect(problemsOf({ ...sound, ...env, API_TOKEN: long.slice(1) })).toEqual([
      'API_TOKEN is shorter than 24 characters: make one with: npm run --silent cli -- secrets generate',
    ]);
    expect(problemsOf({ ...sound, ...env, HOOK_SECRET: '' })).toEqual([
      expect.stringMatching(/^HOOK_SECRET is missing.*secrets generate; or allow that with ALLOW_UNSIGNED=true$/),
    ]);
    expect(problemsOf({ ...sound, ...env, HOOK_SECRET: '', ALLOW_UNSIGNED: 'true' })).toEqual([]);
    for (const hosts of ['postgres', 'one:5432,two:5432', 'one,postgresql://a:coherence@two']) {
      expect(
        problemsOf({ ...sound, ...env, DATABASE_URL: `postgresql://coherence:coherence@${hosts}/coherence` }),
      ).toEqual([expect.stringMatching(/^DATABASE_URL is, or holds, a password that anybody knows/)]);
    }
    expect(problemsOf({ ...sound, ...env, DATABASE_URL: 'postgresql://a:short@one:5432,two:5432/a' })).toEqual([]);
  });

  it.each([
    {},
    { HOST: '127.0.0.1' },
    { HOST: '127.8.9.1' },
    { HOST: '::1' },
    { HOST: 'localhost' },
    { NODE_ENV: 'development' },
  ])('accepts any secret on the loopback address: %j', (env) => {
    expect(problemsOf({ ...sound, HOOK_SECRET: '', ROTATED: '', API_TOKEN: 'demo-api-token', ...env })).toEqual([]);
  });

  it.each([' ', '\t\n', ' '.repeat(30), '\u200b'.repeat(30)])(
    'rejects blank secrets on any listening address: %j',
    (blank) => {
      for (const env of [production, {}]) {
        const given = { ...sound, ...env, API_TOKEN: blank, PROVIDER_TOKEN: blank, ROTATED: blank };
        expect(problemsOf(given)).toEqual([
          'API_TOKEN is blank: set a value, or leave it empty for none',
          expect.stringMatching(/^ROTATED must be one value, or up to 4 separated by white space, and is blank: /),
          'PROVIDER_TOKEN is blank: set a value, or leave it empty for none',
        ]);
      }
    },
  );

  it('reports problems of secrets together with all others, without the values', () => {
    const env = { ...production, API_TOKEN: 'hunter2', LOG_LEVEL: 'loud', HOOK_SECRET: 'hunter2', ROTATED: long };
    expect(problemsOf(env)).toHaveLength(4); // DATABASE_URL is also missing
    expect(problemsOf(env).join()).not.toContain('hunter2');
  });

  describe('secrets with several accepted values (K8)', () => {
    const rotated = (values: string, env: object = production): readonly string[] =>
      problemsOf({ ...sound, ...env, ROTATED: values });
    const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((letter) => letter.repeat(minSecretLength));

    it('validates each of several values of a secret like a single value', () => {
      expect(rotated(` ${a}\n${b}\t${c}  ${d}\n`)).toEqual([]);
      expect(rotated(`${a} demo-api-token`)).toEqual([
        expect.stringMatching(/^ROTATED, value 2, is, or holds, a password that anybody knows: /),
      ]);
      expect(rotated(`short ${a} ${long.slice(1)}`)).toEqual([
        expect.stringMatching(/^ROTATED, value 1, is shorter than 24 characters: /),
        expect.stringMatching(/^ROTATED, value 3, is shorter than 24 characters: /),
      ]);
      expect(rotated(long.slice(1))).toEqual([expect.stringMatching(/^ROTATED is shorter than 24 characters: /)]);
      expect(rotated('short demo-api-token', {})).toEqual([]);
    });

    it('accepts at most four values of a secret on any address, and reports an excess without the values', () => {
      for (const env of [production, {}]) {
        expect(rotated(`${a} ${b} ${c} ${d} hunter2`, env)[0]).toMatch(
          /^ROTATED must be one value, or up to 4 separated by white space/,
        );
        expect(rotated(`${a} ${b} ${c} ${d} hunter2`, env).join()).not.toContain('hunter2');
        expect(rotated('  ', env)[0]).toMatch(/^ROTATED must be one value/);
      }
      expect(rotated('')).toEqual([expect.stringMatching(/^ROTATED is missing/)]);
    });

    it('returns the values of a secret in order, without duplicates', () => {
      expect(listSecretValues(' new \n old\told new ')).toEqual(['new', 'old']);
      expect(listSecretValues('')).toEqual([]);
    });
  });

  it('accepts secrets of external services with any length', () => {
    expect(problemsOf({ ...sound, ...production, PROVIDER_TOKEN: 'x' })).toEqual([]);
    expect(problemsOf({ ...sound, ...production, PROVIDER_TOKEN: 'minioadmin' })).toHaveLength(1);
  });
});

describe('defaults of npm start on the loopback address', () => {
  it('recognises all default secrets as public', () => {
    expect(Object.values(demoValues).filter((value) => !isPublicSecret(value))).toEqual([]);
  });
});

describe('the loopback address', () => {
  it.each(['0.0.0.0', '::', '128.0.0.1', '127.0.0.1.example.org', '1270.0.0.1', 'example.org', ''])(
    'does not treat %j as the loopback address',
    (host) => {
      expect(isLoopback(host)).toBe(false);
    },
  );
});

describe('replaceSecrets', () => {
  it('replaces secrets at any depth by their names, and leaves other values unchanged', () => {
    const names = new Set<string>();
    const config = {
      messaging: { bot_token: '1:a', webhook_secret: 'b', echo_channel: '@c', apiKey: '' },
      llm: { apiKey: 'd', max_tokens: 12, tokens: ['e'], token_budget: 'none' },
      hooks: [{ url: 'https://example.org', Password: 'f' }],
    };
    expect(replaceSecrets(config, 'agents_my-guide', names)).toEqual({
      messaging: {
        bot_token: { env: 'AGENTS_MY_GUIDE_MESSAGING_BOT_TOKEN' },
        webhook_secret: { env: 'AGENTS_MY_GUIDE_MESSAGING_WEBHOOK_SECRET' },
        echo_channel: '@c',
        apiKey: '',
      },
      llm: { apiKey: { env: 'AGENTS_MY_GUIDE_LLM_APIKEY' }, max_tokens: 12, tokens: ['e'], token_budget: 'none' },
      hooks: [{ url: 'https://example.org', Password: { env: 'AGENTS_MY_GUIDE_HOOKS_1_PASSWORD' } }],
    });
    expect([...names]).toHaveLength(4);
  });

  it('assigns a unique name to every secret', () => {
    const names = new Set<string>();
    replaceSecrets({ 'a-b': { token: 'x' }, a_b: { token: 'y' } }, 'steps', names);
    expect([...names]).toEqual(['STEPS_A_B_TOKEN', 'STEPS_A_B_TOKEN_2']);
  });
});
