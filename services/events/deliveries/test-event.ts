/** The event of a test: signed and sent like any other, and not in the feed (V11). */
import type { EventWriter } from '../feed/index.ts';

export function describeTest(
  writer: EventWriter,
  endpoint: { readonly id: number; readonly position: number },
  delivery: { readonly id: string; readonly occurred_at: string },
): { id: string; body: string } {
  const event = {
    id: writer.idOf(delivery.id),
    type: 'webhook_endpoint.test',
    occurred_at: delivery.occurred_at,
    subject: { type: 'webhook_endpoint', id: endpoint.id },
    data: {},
    cursor: writer.cursors.write(endpoint.position),
  };
  return { id: delivery.id, body: JSON.stringify(event) };
}
