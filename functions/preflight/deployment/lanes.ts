/** Whether the lanes answer. An answer proves topic, trigger, function, identity and store at once. */
import { defineFinding, ok } from '../finding.js';

export const cloudLane = defineFinding({
  code: 'cloud-lane',
  title: 'Cloud lane',
  why: 'Without its trigger (Eventarc), topic and identity no step that calls Google runs.',
  by: 'lane',
  about: [],
  ask: async () => undefined,
  judge: () => ok('it answers'),
});

export const hostLane = defineFinding({
  code: 'host-lane',
  title: 'Host lane',
  why: 'Without its trigger (Eventarc), topic and identity no step on machines runs.',
  by: 'host-lane',
  about: [],
  ask: async () => undefined,
  judge: () => ok('it answers'),
});
