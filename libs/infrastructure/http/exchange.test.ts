import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { toAddressBlock } from './exchange.ts';

describe('toAddressBlock (D71)', () => {
  it.each([
    ['an IPv4 address', '203.0.113.7', '203.0.113.7'],
    ['IPv4 with a port', '203.0.113.7:4711', '203.0.113.7'],
    ['IPv4 mapped into IPv6', '::ffff:203.0.113.7', '203.0.113.7'],
    ['the same in hexadecimal', '::FFFF:cb00:7107', '203.0.113.7'],
    ['the same without abbreviation', '0:0:0:0:0:ffff:cb00:7107', '203.0.113.7'],
    ['IPv4 behind NAT64', '64:ff9b::203.0.113.7', '203.0.113.7'],
    ['an IPv6 address', '2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['another of the same /64', '2001:0DB8:0001:0002:ffff::1', '2001:db8:1:2::/64'],
    ['one of the next /64', '2001:db8:1:3::', '2001:db8:1:3::/64'],
    ['an abbreviated one', '2001:db8::1', '2001:db8:0:0::/64'],
    ['zeros at its end', '2001:db8:1::', '2001:db8:1:0::/64'],
    ['brackets and a port', '[2001:db8:1:2::9]:443', '2001:db8:1:2::/64'],
    ['brackets alone', '[2001:db8:1:2::9]', '2001:db8:1:2::/64'],
    ['an interface', 'fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['the loopback address', '::1', '0:0:0:0::/64'],
  ])('maps %s to its address block', (_what, address, block) => {
    expect(toAddressBlock(address)).toBe(block);
  });

  it.each(['', 'unknown', '_hidden', '203.0.113', '203.0.113.7:x', '2001:db8', '[::1', 'x'.repeat(80)])(
    'maps %j, which is not an address, to `unknown`',
    (text) => {
      expect(toAddressBlock(text)).toBe('unknown');
    },
  );

  it('returns the same block for all notations and all interface ids of an address', () => {
    const group = fc.integer({ min: 0, max: 0xffff });
    const half = fc.tuple(group, group, group, group);
    const property = fc.property(
      fc.tuple(fc.integer({ min: 0x2000, max: 0x3fff }), group, group, group),
      half,
      half,
      (first, one, other) => {
        const [plain, padded] = [one, other].map((last, index) =>
          [...first, ...last].map((value) => value.toString(16).padStart(index * 4, '0')).join(':'),
        );
        expect(toAddressBlock(plain ?? '')).toBe(toAddressBlock((padded ?? '').toUpperCase()));
      },
    );
    fc.assert(property);
  });
});
