# The store: documents, their indexes, what is not indexed, what Firestore removes by itself, and who gets in from outside.

locals {
  firestore = jsondecode(file("${path.module}/firestore.indexes.json"))
  database  = lookup(var.settings, "PLINTH_FIRESTORE_DATABASE", "(default)")
}

resource "google_firestore_database" "plinth" {
  project     = var.project_id
  name        = local.database
  location_id = coalesce(var.firestore_location, var.region)
  type        = "FIRESTORE_NATIVE"
  # Readers of a document never wait for writers; the store's commits carry versions of their own.
  concurrency_mode = "PESSIMISTIC"
  # Every minute of the last seven days can be read again: docs/operate/deploy.md has the drill.
  point_in_time_recovery_enablement = "POINT_IN_TIME_RECOVERY_ENABLED"
  delete_protection_state           = var.deletion_protection ? "DELETE_PROTECTION_ENABLED" : "DELETE_PROTECTION_DISABLED"
  deletion_policy                   = var.deletion_protection ? "ABANDON" : "DELETE"

  depends_on = [time_sleep.apis]
}

resource "google_firestore_index" "composite" {
  for_each = {
    for index in local.firestore.indexes :
    join(" ", concat([index.collectionGroup], [for field in index.fields : "${field.fieldPath}:${field.order}"])) => index
  }

  project     = var.project_id
  database    = google_firestore_database.plinth.name
  collection  = each.value.collectionGroup
  query_scope = each.value.queryScope

  dynamic "fields" {
    for_each = each.value.fields
    content {
      field_path = fields.value.fieldPath
      order      = fields.value.order
    }
  }
}

# Large maps, lists and texts are never asked for, and an index of them costs more than the document; `expireAt` of what is
# over is what Firestore removes by.
resource "google_firestore_field" "override" {
  for_each = { for field in local.firestore.fieldOverrides : "${field.collectionGroup}.${field.fieldPath}" => field }

  project    = var.project_id
  database   = google_firestore_database.plinth.name
  collection = each.value.collectionGroup
  field      = each.value.fieldPath

  # Empty: no index of this field at all.
  index_config {}

  dynamic "ttl_config" {
    for_each = each.value.ttl ? [true] : []
    content {}
  }
}

# Longer than the seven days of point-in-time recovery.
resource "google_firestore_backup_schedule" "weekly" {
  project   = var.project_id
  database  = google_firestore_database.plinth.name
  retention = "8467200s" # 14 weeks, the longest there is

  weekly_recurrence {
    day = "SUNDAY"
  }
}

resource "google_firebaserules_ruleset" "firestore" {
  project = var.project_id

  source {
    files {
      name    = "firestore.rules"
      content = file("${path.module}/firestore.rules")
    }
  }

  depends_on = [google_firestore_database.plinth]
}

resource "google_firebaserules_release" "firestore" {
  project      = var.project_id
  name         = local.database == "(default)" ? "cloud.firestore" : "cloud.firestore/${local.database}"
  ruleset_name = google_firebaserules_ruleset.firestore.name
}
