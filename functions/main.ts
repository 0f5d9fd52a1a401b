/** What Google loads when the functions are deployed from their sources: all of them, and the one that it asks for is served. */
import { deployables } from './index.js';
import { serve } from './serve.js';

serve(Object.values(deployables));
