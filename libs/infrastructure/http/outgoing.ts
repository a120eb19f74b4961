/** Sending responses: minimum pace of the client, and the total of unread bytes. */
import { answerPace, pollRegularly, Pace } from '#libs/infrastructure/transfer';
import type { Refusal, HttpExchange } from './exchange.ts';
import type { Transfer } from './byte-budget.ts';

/**
 * Aborts the response when the client reads too slowly, or when it is the oldest one while the budget is exhausted. Not
 * needed for responses that fit in one write.
 * @param waitingBytes unread bytes of the response in this process
 */
export function enforceResponsePace(
  { req, res, state }: HttpExchange,
  waitingBytes: () => number,
  rule = answerPace,
): void {
  const { socket } = req;
  const { responseBudget: answers, countRefusal: refused } = state;
  const takenBytes = (): number => socket.bytesWritten - socket.writableLength;
  const before = takenBytes();
  const pace = new Pace(rule, performance.now());
  const end = (reason: Refusal): void => {
    refused(reason);
    res.destroy();
  };
  const holder: Transfer = {
    since: performance.now(),
    bytes: 0,
    pause: () => undefined,
    resume: () => undefined,
    evict: () => end('no_room_for_answer'),
  };
  answers.add(holder);
  answers.adjust(holder, waitingBytes());
  const stop = pollRegularly((nowMs, isLate) => {
    answers.adjust(holder, waitingBytes() - holder.bytes);
    if (pace.isSlow(nowMs, takenBytes() - before, isLate || socket.writableLength === 0)) end('answer_too_slow');
  });
  res.once('close', () => {
    stop();
    answers.remove(holder);
  });
}
