import { describe, expect, it } from '@jest/globals';
import type { JsonObject } from '#libs/infrastructure/json';
import { SpeakerCollector, assignSpeakers, attributedId, maxSpeakers, parseSpeaker } from './speaker.ts';

const accepted = (startUs: bigint, peer: JsonObject) => ({ startUs, endUs: startUs, sentence: 'x', peer });

function list(...rows: [bigint, JsonObject][]): SpeakerCollector {
  const speakers = new SpeakerCollector();
  for (const [position, [startUs, peer]] of rows.entries()) speakers.add(accepted(startUs, peer), position);
  return speakers;
}

describe('readSpeaker (D24; rules/providers#speaker)', () => {
  it('identifies a speaker by custom participant id, otherwise by user id, peer id or name', () => {
    expect(parseSpeaker({ cpi: 'c', userId: 'u', id: 'p', displayName: 'Ann' })).toEqual({
      key: 'cpi:c',
      cpi: 'c',
      displayName: 'Ann',
    });
    expect(parseSpeaker({ cpi: '', userId: 'u', id: 'p' }).key).toBe('user:u');
    expect(parseSpeaker({ cpi: null, userId: ' ', id: 'p' }).key).toBe('peer:p');
    expect(parseSpeaker({ displayName: 'Ann' })).toEqual({ key: 'name:Ann', cpi: null, displayName: 'Ann' });
    expect(parseSpeaker({})).toEqual({ key: 'none:', cpi: null, displayName: null });
    expect(parseSpeaker({ cpi: 42 }).cpi).toBe('42');
  });

  it('removes characters that cannot be stored from every speaker field', () => {
    const speaker = parseSpeaker({ cpi: 'c'.repeat(5_000), displayName: `\u0000A\ud800${'n'.repeat(5_000)}` });
    expect(speaker.key.length).toBeLessThanOrEqual(200);
    expect(speaker.displayName).toMatch(/^A\ufffdn+$/);
    expect(speaker.displayName?.length).toBe(200);
    expect(parseSpeaker({ cpi: 'c'.repeat(5_001) }).key).not.toBe(speaker.key);
  });
});

describe('assignSpeakers (D24, D24a)', () => {
  const participants = [
    { customParticipantId: 'c-1', personId: 11 },
    { customParticipantId: 'c-2', personId: null },
    { customParticipantId: 'c-3', personId: -4 },
    { customParticipantId: 'c-4', personId: 0 },
    { customParticipantId: 'c-5', personId: 3_000_000_000 },
  ];

  it('resolves a speaker to a person by the room participant, and never by name', () => {
    const found = list(
      [0n, { cpi: 'c-1', displayName: 'Somebody' }],
      [1n, { displayName: 'c-1' }],
      [2n, { userId: 'c-1' }],
    ).inOrder();
    expect(assignSpeakers(found, participants, []).map(attributedId)).toEqual([11, -1, -2]);
  });

  it('does not resolve a room participant without a person or with an unknown person id', () => {
    const found = list(
      [0n, { cpi: 'c-2' }],
      [1n, { cpi: 'c-3' }],
      [2n, { cpi: 'c-4' }],
      [3n, { cpi: 'c-5' }],
    ).inOrder();
    expect(assignSpeakers(found, participants, []).map(attributedId)).toEqual([-1, -2, -3, -4]);
  });

  it('numbers speakers by first appearance in the stored row order, regardless of the artifact order', () => {
    const found = list([30n, { cpi: 'a' }], [20n, { cpi: 'b' }], [10n, { cpi: 'a' }], [10n, { cpi: 'd' }]).inOrder();
    expect(found.map((speaker) => speaker.key)).toEqual(['cpi:a', 'cpi:d', 'cpi:b']);
    expect(assignSpeakers(found, [], []).map(attributedId)).toEqual([-1, -2, -3]);
  });

  it('preserves assigned speaker numbers, also when a speaker is resolved later', () => {
    const found = list([0n, { cpi: 'new' }], [1n, { cpi: 'c-1' }], [2n, { cpi: 'old' }]).inOrder();
    const existing = [
      { key: 'cpi:c-1', number: 1, erased: false },
      { key: 'cpi:old', number: 2, erased: false },
      { key: 'cpi:gone', number: 5, erased: false },
    ];
    expect(assignSpeakers(found, participants, existing)).toEqual([
      { key: 'cpi:new', number: 6, personId: null, displayName: null, erased: false },
      { key: 'cpi:c-1', number: 1, personId: 11, displayName: null, erased: false },
      { key: 'cpi:old', number: 2, personId: null, displayName: null, erased: false },
    ]);
  });

  it('does not resolve a speaker to an erased person, regardless of room and provider data', () => {
    const found = list([0n, { cpi: 'c-1', displayName: 'Ann' }]).inOrder();
    expect(assignSpeakers(found, participants, [{ key: 'cpi:c-1', number: 3, erased: true }])).toEqual([
      { key: 'cpi:c-1', number: 3, personId: null, displayName: null, erased: true },
    ]);
  });

  it('returns the first display name that the provider reported', () => {
    expect(
      list(
        [0n, { cpi: 'a' }],
        [1n, { cpi: 'a', displayName: 'Ann' }],
        [2n, { cpi: 'a', displayName: 'Other' }],
      ).inOrder(),
    ).toMatchObject([{ displayName: 'Ann' }]);
  });

  it('rejects more speakers than the limit of a conversation', () => {
    const speakers = new SpeakerCollector();
    for (let index = 0; index < maxSpeakers; index++)
      expect(speakers.add(accepted(0n, { cpi: `c${index}` }), index)).toBe(true);
    expect(speakers.add(accepted(0n, { cpi: 'one more' }), maxSpeakers)).toBe(false);
  });
});
