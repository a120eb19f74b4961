import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { packWebhooks, unpackWebhooks, type Webhook } from './intake.ts';

const facts = fc
  .dictionary(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }))
  .map((more) => ({ ...more, id: 'd-1' }));
const body = fc.option(
  fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
  { nil: null },
);
const webhook: fc.Arbitrary<Webhook> = fc.oneof(
  fc.record({ facts, body }),
  fc.record({ facts, body, traceparent: fc.string({ unit: 'binary' }) }),
);

describe('packWebhooks and unpackWebhooks (architecture#webhooks; D20)', () => {
  it('preserves order, metadata and arbitrary bytes of webhooks', () => {
    fc.assert(
      fc.property(fc.array(webhook), (webhooks) => expect(unpackWebhooks(packWebhooks(webhooks))).toEqual(webhooks)),
    );
  });

  it('distinguishes an empty body from a missing one', () => {
    const list = [Buffer.alloc(0), null].map((stored) => ({ facts: { id: 'a' }, body: stored }));
    expect(unpackWebhooks(packWebhooks(list))?.map((item) => item.body)).toEqual([Buffer.alloc(0), null]);
  });

  it.each([
    ['an empty message', ''],
    ['a message without line end', '[]'],
    ['invalid JSON', '[{\n'],
    ['an object instead of a list', '{}\n'],
    ['missing facts', '[{"size":null}]\n'],
    ['a missing id', '[{"facts":{},"size":null}]\n'],
    ['a missing size', '[{"facts":{"id":"a"}}]\n'],
    ['a negative size', '[{"facts":{"id":"a"},"size":-1}]\n'],
    ['a trace context that is not a string', '[{"facts":{"id":"a"},"traceparent":1,"size":null}]\n'],
    ['a truncated body', '[{"facts":{"id":"a"},"size":5}]\nhalf'],
    ['more bytes than declared', '[{"facts":{"id":"a"},"size":3}]\nmore'],
  ])('rejects a message with %s', (_name, text) => {
    expect(unpackWebhooks(Buffer.from(text))).toBeUndefined();
  });
});
