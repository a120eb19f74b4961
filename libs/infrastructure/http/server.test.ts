import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { createHttpServer } from './server.ts';

describe('a request body far above the limit (D62)', () => {
  it('returns the error even if the client reads it only after the connection was closed', async () => {
    const open: ServerResponse[] = [];
    const sent = Promise.withResolvers<void>();
    const server = createHttpServer(
      (req, res) => {
        if (open.length === 0) req.socket.once('finish', sent.resolve);
        open.push(res);
      },
      { portName: 'PORT', maxConnections: 10, refused: () => open.forEach((res) => res.end('answer')) },
    );
    const port = await server.listen({ host: '127.0.0.1', port: 0 });
    try {
      const client = connect(port, '127.0.0.1').pause();
      client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(200_000));
      await sent.promise;
      for (let turn = 0; turn < 20; turn++) await nextTurn(); // an immediately closed connection disappears within these turns
      let received = '';
      client.setEncoding('latin1').on('data', (text: string) => (received += text));
      client.on('error', () => undefined); // errors after the response are ignored
      const closed = new Promise((resolve) => void client.once('close', resolve));
      client.resume();
      await closed;
      const statuses = [...received.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
      expect(statuses).toEqual([...Array.from({ length: 16 }, () => 200), 503]);
    } finally {
      await server.drain({ windowMs: 0, deadlineMs: 1_000 });
    }
  });
});
