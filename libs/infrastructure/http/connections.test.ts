import { beforeEach, describe, expect, it } from '@jest/globals';
import type { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { Connections } from './connections.ts';

let connections: Connections;
let refused: string[];
const anonymous = new WeakSet<Socket>();
beforeEach(() => {
  refused = [];
  connections = new Connections({
    max: 4,
    refused: (reason) => refused.push(reason),
    isAnonymous: ({ socket }) => anonymous.has(socket),
  });
});

function open(): Socket {
  const socket = new Socket();
  connections.add(socket);
  return socket;
}
const begin = (socket: Socket): number => connections.begin({ socket } as IncomingMessage);
const openWorking = (): Socket => {
  const socket = open();
  begin(socket);
  return socket;
};
const openAnonymous = (): Socket => {
  const socket = new Socket();
  anonymous.add(socket);
  connections.add(socket);
  begin(socket);
  return socket;
};
const openKept = (): Socket => {
  const socket = openWorking();
  connections.end(socket);
  return socket;
};
const closedOf = (sockets: readonly Socket[]): number[] =>
  sockets.flatMap((socket, index) => (socket.destroyed ? [index] : []));

describe('Connections (D62)', () => {
  it('closes a connection for a new one: first connections without a request, then idle ones, then anonymous ones', () => {
    const sockets = [openAnonymous(), openKept(), openWorking(), open()];
    const closed = [];
    for (let more = 0; more < 3; more++) {
      sockets.push(openWorking());
      closed.push(closedOf(sockets));
    }
    expect(closed).toEqual([[3], [1, 3], [0, 1, 3]]);
    expect(refused).toEqual(Array.from({ length: 3 }, () => 'too_many_connections'));
  });

  it('closes a new connection when all existing ones serve authenticated requests', () => {
    const sockets = Array.from({ length: 4 }, openWorking);
    expect([open().destroyed, closedOf(sockets)]).toEqual([true, []]);
  });

  it('closes the connection that has been idle longest', () => {
    const sockets = Array.from({ length: 4 }, openKept);
    // The first connection was used again, the second is closed, and the third has a request in progress.
    begin(sockets[0]!);
    connections.end(sockets[0]!);
    begin(sockets[2]!);
    sockets[1]?.emit('close');
    openWorking();
    expect(closedOf(sockets)).toEqual([]);
    openWorking();
    expect(closedOf(sockets)).toEqual([3]);
    openWorking();
    expect(closedOf(sockets)).toEqual([0, 3]);
  });

  it('counts the running requests of a connection, and closes it only after all are answered', () => {
    const socket = open();
    expect([begin(socket), begin(socket), connections.countRunning(socket)]).toEqual([1, 2, 2]);
    connections.end(socket);
    const others = Array.from({ length: 3 }, openWorking);
    expect(open().destroyed).toBe(true);
    connections.end(socket);
    open();
    expect([socket.destroyed, closedOf(others)]).toEqual([true, []]);
  });
});
