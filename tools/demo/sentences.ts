/** Sentences of the demo's conversation. They are fictional and are combined anew for each turn. */

const openings = [
  'When I think of this question,',
  'What I heard just now is that',
  'I did not expect it, but',
  'For me it is simple:',
  'Last winter I noticed that',
  'My neighbour once told me that',
  'To be honest,',
  'I keep coming back to one thing:',
  'In our village',
  'What surprised me is that',
  'I would like to add that',
  'Maybe I am wrong, but',
  'Before I came here I thought that',
  'It took me years to see that',
  'My daughter says that',
  'If I am quiet for a moment,',
];

const middles = [
  'people listen longer when nobody has to win',
  'we meet too rarely without a reason',
  'the kitchen table decides more than the town hall',
  'trust grows slowly and breaks in one evening',
  'the young ones ask the better questions',
  'I am more afraid of silence than of quarrel',
  'a walk together says more than a meeting',
  'we repair bicycles and end up talking about our fathers',
  'nobody had asked me that before',
  'the river belongs to all of us',
  'it needs somebody who opens the door',
  'small promises are the ones that hold',
  'we forget how much already works',
  'being useful is not the same as being seen',
  'the garden teaches me patience',
  'hearing a different story changed how I vote',
  'a good host leaves room at the table',
  'we are good at beginnings and bad at endings',
];

const endings = [
  '.',
  ', and that gives me hope.',
  ', at least on good days.',
  '. I wonder how it is for you.',
  ', and I want to learn that again.',
  '. That is all.',
  ', even when it is hard.',
  '. Does that make sense?',
  ', and I would not have said so a year ago.',
  '. Thank you for asking.',
  ', as far as I can tell.',
  '. I will leave it there.',
];

const smallTalk = [
  'Can you hear me?',
  'Yes, loud and clear.',
  'Is the camera on?',
  'I will just get some tea.',
  'Shall we wait for the others?',
  'We are not recording yet, are we?',
];
const farewells = [
  'That was lovely.',
  'See you next week.',
  'I have to run.',
  'Can somebody close the room?',
  'Say hello at home.',
  'Did you get my message, by the way?',
];

/** Returns random numbers from 0 to 1 that a seed determines (mulberry32). */
export type Random = () => number;

export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export function pick<Item>(random: Random, items: readonly Item[]): Item {
  return items[Math.floor(random() * items.length)] as Item;
}

/** Returns a sentence of the approved conversation. */
export function makeStatement(random: Random): string {
  return `${pick(random, openings)} ${pick(random, middles)}${pick(random, endings)}`;
}

/**
 * Returns a sentence from before the approval of the recording or from after its end. Such a sentence must never be
 * stored.
 */
export function makeAside(random: Random, when: 'before' | 'after'): string {
  return pick(random, when === 'before' ? smallTalk : farewells);
}
