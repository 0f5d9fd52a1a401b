/** The caller's files that machines need: their faults, and their hashes for the request. */
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { fileOptions, flagName, type GivenFlags, type GivenOptions } from '../../shared/bootstrap/options.js';
import { uploadText } from '../../shared/bootstrap/upload.js';
import type { Fault } from '../../shared/problems.js';
import { expandHome, homePlaceOf, placeOf, reason, whyUnreadable } from '../files/files.js';
import { readSecretText, registerUnreadable } from '../files/secret-text.js';
import type { Settings } from '../settings.js';
import { binaryFault } from './binary-file.js';
import { hashOf, type LocalUpload } from './upload-source.js';

export interface Uploads {
  /** What the request carries in place of the paths. */
  readonly options: GivenOptions;
  readonly files: readonly LocalUpload[];
}

interface UploadFaults {
  /** Why the named files are unsuitable. */
  readonly faults: readonly Fault[];
  /** How a package that is sound differs from what other flags ask for. */
  readonly mismatches: readonly Fault[];
}

/** Found before any request to the service. */
export async function uploadFaults(given: GivenFlags, settings: Settings): Promise<UploadFaults> {
  const faults: Fault[] = [];
  const mismatches: Fault[] = [];
  for (const option of fileOptions) {
    for (const path of [given[option] ?? []].flat()) {
      const faultOf = (why: string): Fault => ({ path: flagName(option), message: `${path}: ${why}` });
      const place = homePlaceOf(path, settings);
      const why = option === 'remoteCliBinary' ? await binaryFault(place) : whyUnreadable(place);
      if (why !== undefined) faults.push(faultOf(why));
      else if (option === 'installLocal') {
        const found = await (await import('../files/package-file.js')).examinePackage(place, given);
        if (found.fault !== undefined) faults.push(faultOf(found.fault));
        mismatches.push(...found.mismatches.map(faultOf));
      }
    }
  }
  return { faults, mismatches };
}

/** Values files that are no YAML. The package decides what to do with them. */
export async function valuesDoubts({ pcAppsValues = [] }: GivenFlags, settings: Settings): Promise<Fault[]> {
  if (pcAppsValues.length === 0) return [];
  const { faultInDocuments } = await import('../../shared/yaml-text.js');
  return pcAppsValues.flatMap((path) => {
    const place = homePlaceOf(path, settings);
    // An unreadable file has its own fault.
    if (whyUnreadable(place) !== undefined) return [];
    const doubt = (why: string): Fault[] => [{ path: '--pc-apps-values', message: `${path} is no YAML: ${why}` }];
    let text: string;
    try {
      text = readSecretText(place, 'values file', settings);
    } catch (error) {
      return doubt(reason(error));
    }
    const why = faultInDocuments(text);
    if (why === undefined) return [];
    registerUnreadable(text, settings);
    return doubt(why);
  });
}

/** Reads each file once. They were checked before. */
export async function readUploads(given: GivenFlags, settings: Settings): Promise<Uploads> {
  const options: Record<string, string | string[]> = {};
  const files: LocalUpload[] = [];
  for (const option of fileOptions) {
    const value = given[option];
    if (value === undefined) continue;
    const found = await Promise.all(
      (typeof value === 'string' ? [value] : value).map((path) =>
        readUpload(expandHome(path, settings.home), settings),
      ),
    );
    files.push(...found);
    const texts = found.map(uploadText);
    options[option] = typeof value === 'string' ? (texts[0] as string) : texts;
  }
  return { options: options as GivenOptions, files };
}

async function readUpload(path: string, settings: Settings): Promise<LocalUpload> {
  const place = placeOf(path, settings);
  return { path, place, name: basename(path), sha256: await hashOf(place), bytes: (await stat(place)).size };
}
