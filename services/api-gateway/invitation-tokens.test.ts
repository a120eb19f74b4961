import { describe, expect, it } from '@jest/globals';
import { createInvitationTokens, hashInvitation } from './invitation-tokens.ts';

describe('tokens of invitations (W7)', () => {
  const tokens = createInvitationTokens('a secret of the installation');

  it('are derived from a random seed, equally in every replica with the secret', () => {
    const { seed, token_sha256: digest } = tokens.create();
    const token = tokens.tokenOf(seed);
    expect(token).toMatch(new RegExp(`^svc_invite_${seed}_[A-Za-z0-9_-]{43}$`));
    expect(hashInvitation(token)).toBe(digest);
    expect(createInvitationTokens('a secret of the installation').tokenOf(seed)).toBe(token);
    expect(createInvitationTokens('another secret').tokenOf(seed)).not.toBe(token);
    expect(tokens.create().seed).not.toBe(seed);
  });
});
