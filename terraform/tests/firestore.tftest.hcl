# The store: what is kept, for how long, and who gets in.

mock_provider "google" {
  source = "./tests/mocks"
}
mock_provider "time" {}

run "store" {
  command = plan

  assert {
    condition     = google_firestore_database.plinth.name == "(default)" && google_firestore_database.plinth.type == "FIRESTORE_NATIVE" && google_firestore_database.plinth.location_id == "europe-west4"
    error_message = "The database is native, and in the region."
  }
  assert {
    condition     = google_firestore_database.plinth.point_in_time_recovery_enablement == "POINT_IN_TIME_RECOVERY_ENABLED"
    error_message = "The documents can be read as they were."
  }
  assert {
    condition     = google_firestore_database.plinth.delete_protection_state == "DELETE_PROTECTION_ENABLED" && google_firestore_database.plinth.deletion_policy == "ABANDON"
    error_message = "Neither Google nor terraform deletes the database."
  }
  assert {
    condition     = google_firestore_backup_schedule.weekly.retention == "${14 * 7 * 24 * 3600}s" && length(google_firestore_backup_schedule.weekly.daily_recurrence) == 0 && google_firestore_backup_schedule.weekly.weekly_recurrence[0].day == "SUNDAY"
    error_message = "There is a backup each Sunday, for 14 weeks."
  }
  assert {
    condition     = length(google_firestore_index.composite) == length(jsondecode(file("firestore.indexes.json")).indexes)
    error_message = "Every composite index is made."
  }
  assert {
    condition = join(", ", [for key, field in google_firestore_field.override : key if length(field.ttl_config) > 0]) == join(", ", [
      for collection in ["bootstraps", "consoleSessions", "counters", "durations", "events", "idempotency", "invitations", "logHeads", "logs", "notices", "organizationMembers", "organizations", "preflights", "rates", "teamMembers", "teams", "transfers"] : "${collection}.expireAt"
    ])
    error_message = "expireAt is what Firestore removes by, and nothing else."
  }
  assert {
    condition     = alltrue([for field in google_firestore_field.override : length(field.index_config) == 1 && length(field.index_config[0].indexes) == 0])
    error_message = "No override has an index."
  }
  assert {
    condition     = strcontains(google_firebaserules_ruleset.firestore.source[0].files[0].content, "allow read, write: if false;") && google_firebaserules_release.firestore.name == "cloud.firestore"
    error_message = "Nobody gets in past the functions."
  }
}

# docs/operate/deploy.md, "In an emergency": the functions, and all that a restore does not bring, go to the other database.
run "a_restored_database" {
  command = plan
  variables {
    settings           = { PLINTH_FIRESTORE_DATABASE = "restored" }
    firestore_location = "eur3"
  }

  assert {
    condition     = alltrue([for f in google_cloudfunctions2_function.function : f.service_config[0].environment_variables["PLINTH_FIRESTORE_DATABASE"] == "restored"])
    error_message = "All functions ask the restored database."
  }
  assert {
    condition = alltrue([
      for database in concat(
        [google_firestore_database.plinth.name, google_firestore_backup_schedule.weekly.database],
        [for index in google_firestore_index.composite : index.database],
        [for field in google_firestore_field.override : field.database],
      ) : database == "restored"
    ])
    error_message = "Indexes, expiry and backups are those of the restored database."
  }
  assert {
    condition     = google_firebaserules_release.firestore.name == "cloud.firestore/restored"
    error_message = "Nobody gets into the restored database past the functions."
  }
  assert {
    condition     = google_firestore_database.plinth.location_id == "eur3" && google_storage_bucket.packages.location == "europe-west4"
    error_message = "The documents alone are elsewhere."
  }
}
