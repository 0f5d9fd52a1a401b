/** Where somebody is in the console: the part of the address behind #, so that a refresh and a link lead back there. */
import { useEffect, useState } from 'preact/hooks';

const parts = (): string[] =>
  location.hash
    .replace(/^#\/?/, '')
    .split('/')
    .filter((part) => part !== '')
    .map((part) => {
      try {
        return decodeURIComponent(part);
      } catch {
        return part;
      }
    });

export function useRoute(): readonly string[] {
  const [route, setRoute] = useState(parts);
  useEffect(() => {
    const change = (): void => {
      setRoute(parts());
      scrollTo(0, 0);
    };
    addEventListener('hashchange', change);
    return () => removeEventListener('hashchange', change);
  }, []);
  return route;
}

export const go = (to: string): void => {
  location.hash = to;
};
