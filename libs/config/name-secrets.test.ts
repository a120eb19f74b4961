import { describe, expect, it } from '@jest/globals';
import { replaceSecrets } from './name-secrets.ts';

describe('replaceSecrets', () => {
  it('puts names in the place of secrets, wherever they stand, and leaves all else', () => {
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

  it('gives every secret a name of its own', () => {
    const names = new Set<string>();
    replaceSecrets({ 'a-b': { token: 'x' }, a_b: { token: 'y' } }, 'steps', names);
    expect([...names]).toEqual(['STEPS_A_B_TOKEN', 'STEPS_A_B_TOKEN_2']);
  });
});
